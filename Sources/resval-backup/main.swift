import CommandSupport

/// The words of restic and of its users.
let resticWords = [
    "backup": "create", "check": "verify", "ls": "show", "list": "snapshots", "dump": "restore",
    "mount": "restore", "stats": "status",
]

BackupCommand.runAsyncProgram(uncaughtCode: 1, synonyms: resticWords)
