import SystemPackage

/// The reason why a value applies to an item.
public protocol PolicyReason: Sendable, Hashable {
    /// The reason's stable name, for JSON and scripts.
    var name: String { get }

    /// The reason in words, without any path, since paths may contain bytes that control a
    /// terminal. To be followed by ``ancestor`` if there is one.
    var sentence: String { get }

    /// The directory the value comes from; nil if it comes from the item itself.
    var ancestor: FilePath? { get }

    /// The reason that applies at ``ancestor``, or the reason itself.
    var origin: Self { get }
}
