import SystemCalls

extension RecordFacts.Source {
    /// What there is of it.
    var own: RecordFacts.Baseline {
        RecordFacts.Baseline(items: amount.items, bytes: amount.bytes, filesystem: filesystem)
    }

    /// Takes over what it is compared with from the same SOURCE of the snapshot before.
    mutating func takeOver(_ before: RecordFacts.Source) {
        expected = before.expected
        fall = before.fall
        pathsGone = before.pathsGone
        named = before.named
    }

    /// Finds whether it fell, or is back.
    ///
    /// - Parameter excluded: how much of it the owner excluded since, which is no fall.
    mutating func compare(without excluded: StoredParts.Amount) {
        fall = fall(without: excluded)
        if fall == nil {
            expected = own
        } else {
            expected.items = expected.items.subtractingSaturating(excluded.items)
            expected.bytes = expected.bytes.subtractingSaturating(excluded.bytes)
        }
    }

    func fall(without excluded: StoredParts.Amount) -> RecordFacts.Fall? {
        if isMissing { return nil }
        if !filesystem.isEmpty, !expected.filesystem.isEmpty, filesystem != expected.filesystem {
            return .filesystem
        }
        func isLess(_ now: Int64, than before: Int64, without excluded: Int64) -> Bool {
            Double(now) < Double(before.subtractingSaturating(excluded)) * 0.8
        }
        if isLess(amount.items, than: expected.items, without: excluded.items) { return .items }
        if isLess(amount.bytes, than: expected.bytes, without: excluded.bytes) { return .bytes }
        return nil
    }

    /// Whether there is much less of it than in the snapshot before.
    func isLess(
        than before: RecordFacts.Amount, without excluded: StoredParts.Amount
    ) -> Bool {
        Double(amount.items) < Double(before.items.subtractingSaturating(excluded.items)) * 0.8
            || Double(amount.bytes) < Double(before.bytes.subtractingSaturating(excluded.bytes))
                * 0.8
    }

    /// What is to be said about its fall; nil if it did not fall.
    var cause: CoverageCause? {
        switch fall {
        case .filesystem: .otherFilesystem(path, before: expected.filesystem, now: filesystem)
        case .items where isEmpty: .emptySource(path)
        case .items: .fewerItems(path, before: expected.items, now: amount.items)
        case .bytes: .fewerBytes(path, before: expected.bytes, now: amount.bytes)
        case nil: nil
        }
    }
}
