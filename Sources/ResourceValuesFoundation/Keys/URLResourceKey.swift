#if !canImport(Darwin)
/// The name of a value that belongs to a file's URL, replacing Foundation's type of the same name.
///
/// Every constant that Apple documents exists, with the raw name that Foundation gives it. For a
/// key's value, its source and when it is nil, see the property in ``URLResourceValues``.
public struct URLResourceKey: RawRepresentable, Hashable, Sendable {
    private enum Name: Hashable {
        case known(KnownKey)
        case other(String)
    }

    private let name: Name

    /// Creates a key from a raw name such as `NSURLIsPurgeableKey`.
    ///
    /// A name that no constant has makes a key whose value is always nil.
    public init(rawValue: String) {
        name = KnownKey(foundationName: rawValue).map { .known($0) } ?? .other(rawValue)
    }

    /// Creates a key from a raw name such as `NSURLIsPurgeableKey`.
    public init(_ rawValue: String) { self.init(rawValue: rawValue) }

    init(_ known: KnownKey) { name = .known(known) }

    /// The raw name, such as `NSURLIsPurgeableKey`.
    public var rawValue: String {
        switch name {
        case .known(let key): key.foundationName
        case .other(let name): name
        }
    }

    /// The key as one of the constants; nil when it is another.
    var known: KnownKey? {
        guard case .known(let key) = name else { return nil }
        return key
    }

    /// Whether two keys have the same raw name.
    public static func == (first: URLResourceKey, second: URLResourceKey) -> Bool {
        first.name == second.name
    }

    /// Feeds the name to a hasher.
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
#endif
