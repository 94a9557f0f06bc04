import ArgumentParser
import Backups
import CommandSupport

// The rules for snapshots to keep, in the table `retention` of the configuration file and as the options of
// `forget`.

/// A number of snapshots to keep: from 1, or -1 for all.
struct KeptCount: ExpressibleByArgument {
    let number: Int

    init?(_ number: Int) {
        guard number > 0 || number == -1 else { return nil }
        self.number = number
    }

    init?(argument: String) {
        guard let number = Int(argument) else { return nil }
        self.init(number)
    }
}

/// Tags, of which a snapshot has to have all: joined by commas.
struct TagList: ExpressibleByArgument {
    let tags: [String]

    /// Parses tags; nil for an empty list.
    init?(argument: String) {
        tags = argument.unicodeScalars.split(separator: ",").map(String.init)
        if tags.isEmpty { return nil }
    }
}

extension CalendarSpan: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }
}

/// The keys of the table `retention`: the options of `restic forget`.
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
    fileprivate var isSpan: Bool { rawValue.hasPrefix("keep-within") }

    /// The period whose newest snapshot is kept; nil for tags.
    fileprivate var period: RetentionRules.Period? {
        self == .within
            ? .last
            : RetentionRules.Period(rawValue: String(rawValue.split(separator: "-").last ?? ""))
    }
}

extension RetentionRules {
    init(_ reader: SettingsReader) throws(SettingsError) {
        self.init()
        try reader.refuseUnknownKeys(but: RetentionKey.self)
        for key in RetentionKey.allCases where reader.has(key) {
            guard let period = key.period else {
                for text in try reader.strings(key) ?? [] {
                    guard let list = TagList(argument: text) else {
                        throw reader.complaint(key, "has an empty tag")
                    }
                    tags.append(list.tags)
                }
                continue
            }
            if key.isSpan {
                spans[period] = try reader.value(
                    key, "takes a span such as \"1y6m14d\"", CalendarSpan.init(argument:))
            } else {
                guard let count = reader.integerIfAny(key).flatMap(KeptCount.init) else {
                    throw reader.complaint(key, "takes a number from 1, or -1 to keep all")
                }
                counts[period] = count.number
            }
        }
    }
}

/// The options of `forget`, with restic's names.
struct RetentionOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Keep the newest N; --keep-last=-1 for all.", valueName: "n"))
    var keepLast: KeptCount?
    @Option(help: ArgumentHelp("Keep the newest of each of N hours.", valueName: "n"))
    var keepHourly: KeptCount?
    @Option(help: ArgumentHelp("Keep the newest of each of N days.", valueName: "n"))
    var keepDaily: KeptCount?
    @Option(help: ArgumentHelp("Keep the newest of each of N weeks.", valueName: "n"))
    var keepWeekly: KeptCount?
    @Option(help: ArgumentHelp("Keep the newest of each of N months.", valueName: "n"))
    var keepMonthly: KeptCount?
    @Option(help: ArgumentHelp("Keep the newest of each of N years.", valueName: "n"))
    var keepYearly: KeptCount?
    @Option(
        help: ArgumentHelp(
            "Keep all of this time before the newest: 1y5m7d2h.", valueName: "span"))
    var keepWithin: CalendarSpan?
    @Option(
        help: ArgumentHelp(
            "Keep all with this tag, or all of several (a,b).", valueName: "tags"))
    var keepTag: [TagList] = []

    func validate() throws {
        guard !rules.isEmpty else {
            throw ValidationError(
                "without a rule everything would be removed: give at least one --keep- option")
        }
    }

    var rules: RetentionRules {
        var rules = RetentionRules()
        let counts: [RetentionRules.Period: KeptCount?] = [
            .last: keepLast, .hourly: keepHourly, .daily: keepDaily, .weekly: keepWeekly,
            .monthly: keepMonthly, .yearly: keepYearly,
        ]
        rules.counts = counts.compactMapValues { $0?.number }
        rules.spans[.last] = keepWithin
        rules.tags = keepTag.map(\.tags)
        return rules
    }
}
