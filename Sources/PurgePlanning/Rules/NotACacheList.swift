extension NotACache {
    /// What is shipped.
    static let shipped = NotACache(list: shippedList)
}

/// Items and places that look disposable and are not: see ``NotACache``.
private let shippedList = """
    # anywhere: the item keeps the unit it is in
    .git\ta repository of Git
    .hg\ta repository of Mercurial
    .svn\ta working copy of Subversion
    .jj\ta repository of Jujutsu
    pyvenv.cfg\ta virtual environment of Python
    .env\tsettings and secrets of a program
    id_rsa\ta private key
    id_ed25519\ta private key
    LocalHistory\tthe history of edits of a development environment
    # below a directory for caches
    rclone/vfs\tfiles that rclone has not written back yet
    rclone/vfsMeta\twhat rclone knows of files it has not written back yet
    rclone/bisync\twhat rclone bisync compares with
    keyring-*/*\ta keyring
    gnupg/*\tkeys
    gh/*\ttokens
    gcloud/*\ttokens
    aws/*\ttokens
    azure/*\ttokens
    containers/*\tstorage of containers
    flatpak/*\tstorage of applications
    debconf/*\tanswers that package installation needs
    evolution/mail\tmail that has not been sent yet
    thunderbird/*\tmail
    bash/history\ta history
    zsh/history\ta history
    less/history\ta history
    restic/*\tshortens backups by hours; restic cleans it up itself
    borg/*\tshortens backups by hours; borg needs its security records
    """
