import SystemCalls
import SystemPackage

/// The journal of one run. On a full disk it may be impossible to create before something is
/// deleted.
final class RunJournal {
    private let make: () throws -> PurgeJournal
    private let rules: (FilePath) throws(FileError) -> PurgeRules
    /// The journal; nil until it is open.
    private(set) var journal: PurgeJournal?

    /// - Parameters:
    ///   - make: opens the journal.
    ///   - rules: returns the rules for the filesystem of a path.
    init(
        _ make: @escaping () throws -> PurgeJournal,
        rules: @escaping (FilePath) throws(FileError) -> PurgeRules
    ) {
        self.make = make
        self.rules = rules
    }

    /// Opens the journal, unless it is already open or the disk is full, and settles the leftovers
    /// of an interrupted purge.
    ///
    /// - Throws: ``PurgeRefusal``, and `FileError` for anything but a full disk or quota.
    func open(_ event: (PurgeEvent) -> Void) throws {
        guard journal == nil else { return }
        do {
            journal = try make()
        } catch let error as FileError {
            guard error.isForWantOfRoom else { throw error }
            return
        }
        if let journal { Leftovers(journal: journal, rules: rules).settle(event) }
    }

    /// Returns the journal, for steps that need it.
    ///
    /// - Throws: `FileError` `noSpace` while there is no room for it.
    func required() throws(FileError) -> PurgeJournal {
        if let journal { return journal }
        throw FileError(
            code: .noSpace, message: "there is no room for the journal that removing it needs",
            advice: "delete something by hand, or set XDG_STATE_HOME to another filesystem")
    }
}

extension FileError {
    /// Whether a disk or a quota is full.
    var isForWantOfRoom: Bool { code == .noSpace || code == .quotaExceeded }
}
