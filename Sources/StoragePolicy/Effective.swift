import SystemPackage

/// The reason why a value applies to an item, in names and words.
public protocol PolicyReason: Sendable, Hashable {
    /// The reason's stable name, for JSON and scripts.
    var name: String { get }

    /// The reason in words, without any path, since paths may contain bytes that control a
    /// terminal. To be followed by ``ancestor`` if there is one.
    var sentence: String { get }

    /// The directory the value comes from; nil if it comes from the item itself.
    var ancestor: FilePath? { get }
}

/// What decides a value at the item that it comes from.
public protocol PolicyCause: Sendable, Hashable {
    /// Nothing on the item decides.
    static var unmarked: Self { get }

    /// What it means for an item that a directory above it decides, in words.
    static var meaningBelow: String { get }

    /// Whether entries of a directory inherit it.
    var isInherited: Bool { get }

    /// The cause's stable name, for JSON and scripts.
    var name: String { get }

    /// The cause in words, without any path.
    var sentence: String { get }
}

extension PolicyCause {
    /// A directory above decides.
    public static var meaningBelow: String { "a directory above decides" }

    /// All but what decides nothing.
    public var isInherited: Bool { self != .unmarked }
}

/// What applies to an item, by its cause: on the item itself, or on a directory above.
public struct Effective<Cause: PolicyCause>: PolicyReason {
    /// The cause, on the item or on ``ancestor``.
    public let cause: Cause
    /// The directory above that decides; nil if the item itself does.
    public let ancestor: FilePath?

    /// Creates what applies by a cause, on the item itself or on a directory above.
    public init(_ cause: Cause, from ancestor: FilePath? = nil) {
        self.cause = cause
        self.ancestor = ancestor
    }

    /// The cause; nil if a directory above decides.
    public var ownCause: Cause? { ancestor == nil ? cause : nil }

    /// What applies to an item without marks, below no directory with any.
    public static var unmarked: Effective { Effective(.unmarked) }

    /// The name of the cause, or `inherited`.
    public var name: String { ancestor == nil ? cause.name : "inherited" }

    /// The cause in words, and where it is.
    public var sentence: String {
        ancestor == nil ? cause.sentence : "\(Cause.meaningBelow): \(cause.sentence)"
    }
}
