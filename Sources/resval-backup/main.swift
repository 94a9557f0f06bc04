import CommandSupport

/// The words of restic and of its users.
let resticWords = [
    "backup": "create", "check": "verify", "ls": "show", "list": "snapshots", "dump": "restore",
    "mount": "restore", "stats": "status", "--repo": "--repository", "-r": "--repository",
    "-p": "--password-file",
]

/// What this program leaves to restic, or does by another command.
let refusals = [
    "evicted": "use: resval-backup evict --list",
    "explain": "use: resval-backup snapshots PATH",
    "create --with-evicted": "download them first: resval-backup download",
    "plan --with-evicted": "download them first: resval-backup download",
    "restore --with-evicted": "evicted files are always restored",
    "create --allow-plaintext": "a repository is always encrypted",
    "forget --kept": "use: resval-backup evict --forget ID",
    "forget --tag": "name the SOURCEs of the snapshots",
    "plan --compare": "create compares, and makes its snapshot all the same",
    "plan --top": "use: resval usage --source DIR",
    "plan --no-strict": "what the list cannot contain is named",
    "verify --repair": "verify prints the commands of restic that repair",
]

BackupCommand.runAsyncProgram(uncaughtCode: 1, synonyms: resticWords, refusals: refusals)
