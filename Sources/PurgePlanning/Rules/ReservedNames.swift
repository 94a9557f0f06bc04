/// Names that a purge gives.
enum ReservedNames {
    /// Why a name is one that a purge gives: what has it is nobody's cache, nor what is in it.
    static func ownReason(_ name: some BidirectionalCollection<UInt8>) -> String? {
        AsideName.matches(name) ? "a purge put it aside" : nil
    }
}

extension BidirectionalCollection<UInt8> {
    func hasSuffix(_ suffix: String) -> Bool {
        self.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
    }
}
