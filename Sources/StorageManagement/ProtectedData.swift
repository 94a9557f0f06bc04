/// Whether files with a protection class can be read.
///
/// Nothing here enforces protection classes: they are declarations, so their files are always
/// available, and no change happens.
public enum ProtectedData {
    /// Whether the files of all protection classes can be opened; true while no class is enforced.
    public static var isAvailable: Bool { true }

    /// The changes of ``isAvailable``. The sequence ends when its task is cancelled, and waits
    /// without an element while no class is enforced.
    public static var changes: AsyncStream<Change> { AsyncStream { _ in } }

    /// A change of the availability.
    public enum Change: Sendable, Hashable {
        /// Files of some class are about to be locked: close them.
        case willBecomeUnavailable
        /// The files can be opened again.
        case didBecomeAvailable
    }
}
