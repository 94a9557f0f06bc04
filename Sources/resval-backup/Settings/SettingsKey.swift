/// The keys of the configuration file.
enum SettingsKey: String, CaseIterable {
    case sources, repository, password
    case passwordFile = "password-file"
    case passwordCommand = "password-command"
    case markers, locations
    case excludeLargerThan = "exclude-larger-than"
    case tags
    case allowPlaintext = "allow-plaintext"
    case retention, prune, verify
    case verifyReadData = "verify-read-data"
    case staleAfter = "stale-after"
}

/// The keys of the table `retention`: the options of `forget`.
enum RetentionKey: String, CaseIterable {
    case last = "keep-last"
    case hourly = "keep-hourly"
    case daily = "keep-daily"
    case weekly = "keep-weekly"
    case monthly = "keep-monthly"
    case yearly = "keep-yearly"
    case within = "keep-within"
    case withinHourly = "keep-within-hourly"
    case withinDaily = "keep-within-daily"
    case withinWeekly = "keep-within-weekly"
    case withinMonthly = "keep-within-monthly"
    case withinYearly = "keep-within-yearly"
    case tags = "keep-tags"

    /// Whether the value is a span of time, not a number of snapshots.
    var isSpan: Bool { rawValue.hasPrefix("keep-within") }
}
