/// The names that purges give.
enum ReservedNames {
    /// Returns why a name is one that purges give, whose item is kept with everything in it; nil
    /// for other names.
    static func ownReason(_ name: some BidirectionalCollection<UInt8>) -> String? {
        AsideName.matches(name) ? "a purge put it aside" : nil
    }
}

extension BidirectionalCollection<UInt8> {
    func hasSuffix(_ suffix: String) -> Bool {
        self.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
    }
}
