import SettingsReading

extension SettingsReader {
    /// Returns the interval of a key; nil when it is not set.
    func interval(_ key: SettingsKey) throws(SettingsError) -> Interval? {
        guard has(key) else { return nil }
        if let days = integerIfAny(key), days >= 1, days <= 36500 { return .days(days) }
        switch textIfAny(key) {
        case "never": return .never
        case "always": return .days(0)
        case "daily": return .days(1)
        case "weekly": return .days(7)
        case "monthly": return .days(30)
        default:
            throw complaint(
                key.rawValue,
                "takes \"always\", \"daily\", \"weekly\", \"monthly\", \"never\" or a number of days"
            )
        }
    }
}
