import ResourceValues

extension Marks {
    /// Marks that may be malformed or unreadable.
    package init(_ marks: [StoredKey: Mark]) {
        self.init()
        for (key, mark) in marks { self[key] = mark }
    }
}
