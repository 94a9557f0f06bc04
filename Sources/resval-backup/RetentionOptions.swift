import ArgumentParser
import BackupEngines

/// The rules for snapshots to keep, with restic's option names.
struct RetentionOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Keep the newest N snapshots; -1 for all.", valueName: "n"))
    var keepLast: Int?
    @Option(help: ArgumentHelp("Keep the newest of each of N hours.", valueName: "n"))
    var keepHourly: Int?
    @Option(help: ArgumentHelp("Keep the newest of each of N days.", valueName: "n"))
    var keepDaily: Int?
    @Option(help: ArgumentHelp("Keep the newest of each of N weeks.", valueName: "n"))
    var keepWeekly: Int?
    @Option(help: ArgumentHelp("Keep the newest of each of N months.", valueName: "n"))
    var keepMonthly: Int?
    @Option(help: ArgumentHelp("Keep the newest of each of N years.", valueName: "n"))
    var keepYearly: Int?
    @Option(
        help: ArgumentHelp(
            "Keep all made within this time before the newest, such as 1y5m7d2h.",
            valueName: "span"))
    var keepWithin: String?
    @Option(
        help: ArgumentHelp(
            "Keep the newest of each hour within this time.", valueName: "span"))
    var keepWithinHourly: String?
    @Option(
        help: ArgumentHelp(
            "Keep the newest of each day within this time.", valueName: "span"))
    var keepWithinDaily: String?
    @Option(
        help: ArgumentHelp(
            "Keep the newest of each week within this time.", valueName: "span"))
    var keepWithinWeekly: String?
    @Option(
        help: ArgumentHelp(
            "Keep the newest of each month within this time.", valueName: "span"))
    var keepWithinMonthly: String?
    @Option(
        help: ArgumentHelp(
            "Keep the newest of each year within this time.", valueName: "span"))
    var keepWithinYearly: String?
    @Option(
        help: ArgumentHelp(
            "Keep all with this tag, or with all of several joined by commas; may be repeated.",
            valueName: "tags"))
    var keepTag: [String] = []

    func validate() throws { _ = try rules() }

    /// Returns the rules.
    ///
    /// - Throws: `ValidationError` for a count, span or tag that is not valid.
    func rules() throws -> RetentionRules {
        var rules = RetentionRules()
        for (period, count) in counts {
            guard let count else { continue }
            guard count > 0 || count == -1 else {
                throw ValidationError("--keep-\(period.rawValue) takes a number from 1, or -1")
            }
            rules.counts[period] = count
        }
        for (period, text) in spans {
            guard let text else { continue }
            guard let span = CalendarSpan(text) else {
                throw ValidationError("a span is written as 1y5m7d2h, not '\(text)'")
            }
            rules.spans[period] = span
        }
        rules.tags = keepTag.map(RetentionRules.tagList)
        guard rules.tags.allSatisfy({ !$0.isEmpty }) else {
            throw ValidationError("--keep-tag takes a tag")
        }
        return rules
    }

    private var counts: [(RetentionRules.Period, Int?)] {
        [
            (.last, keepLast), (.hourly, keepHourly), (.daily, keepDaily),
            (.weekly, keepWeekly), (.monthly, keepMonthly), (.yearly, keepYearly),
        ]
    }

    private var spans: [(RetentionRules.Period, String?)] {
        [
            (.last, keepWithin), (.hourly, keepWithinHourly), (.daily, keepWithinDaily),
            (.weekly, keepWithinWeekly), (.monthly, keepWithinMonthly),
            (.yearly, keepWithinYearly),
        ]
    }
}

extension RetentionRules {
    /// Returns the tags that are joined by commas.
    static func tagList(_ text: String) -> [String] {
        text.unicodeScalars.split(separator: ",").map(String.init)
    }
}
