import SystemPackage

/// Why a value applies to an item.
public protocol PolicyReason: Sendable, Hashable {
    /// The reason's stable name, for JSON and scripts.
    var name: String { get }

    /// The reason in words, without any path: paths may hold bytes that a terminal obeys. Goes on
    /// with ``ancestor`` where there is one.
    var sentence: String { get }

    /// The directory the value comes from; nil when it comes from the item itself.
    var ancestor: FilePath? { get }

    /// The reason that holds at ``ancestor``, or the reason itself.
    var origin: Self { get }
}
