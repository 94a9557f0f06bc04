import SystemCalls
import SystemPackage

/// A change of one stored key: a value to store, or nil to remove it.
public struct MarkChange: Sendable, Hashable {
    /// The key to change.
    public let key: StoredKey
    /// The value to store; nil to remove the stored value.
    public let value: StoredValue?

    /// Creates a change of a key. One to a value of another type than the key's is refused when it is
    /// made.
    public init(_ key: StoredKey, to value: StoredValue?) {
        self.key = key
        self.value = value
    }

    package var attribute: ExtendedAttributeName { key.attribute }

    /// The bytes to store; nil to remove the attribute.
    package var bytes: [UInt8]? { value.map { Array($0.text.utf8) } }
}

extension FileLocation where Self: ~Copyable {
    /// Makes all changes or none.
    ///
    /// Several changes are made on one open file, so that they all reach the same file. If one fails,
    /// those before it are reverted, each only if the value is still the one that this call stored: a
    /// value that another program stored since then is kept.
    ///
    /// - Throws: ``FileError``: `malformedValue` for a value of another type than the key's, and as
    ///   ``setExtendedAttribute(named:to:if:)``. Nothing is changed then, unless the message says what
    ///   could not be reverted.
    @inlinable
    public func apply(_ changes: [MarkChange]) throws(FileError) {
        if changes.count > 1 {
            try apply(changes, replacing: nil)
        } else if let change = changes.first {
            try make(change)
        }
    }

    /// Makes all changes or none, each only where the stored bytes are the known ones, or already
    /// those of the change.
    ///
    /// - Parameter known: the bytes of each change's attribute; nil where it is not set. One that
    ///   appears at the last moment is not replaced. Nil to replace whatever is stored.
    /// - Throws: ``FileError``, as ``apply(_:)``, and `changed` where other bytes are stored.
    @usableFromInline
    package func apply(
        _ changes: [MarkChange], replacing known: [[UInt8]?]?
    ) throws(FileError) {
        if let open = openDescriptor {
            return try applyInTurn(changes, replacing: known, to: open.named(pathForMessages))
        }
        let file = try calls(on: pathForMessages, FileError.opening) { () throws(Errno) in
            try openAttributeReference(to: self)
        }
        try applyInTurn(
            changes, replacing: known, to: file.descriptor.named(pathForMessages))
    }

    @usableFromInline
    func make(
        _ change: MarkChange, if condition: ExtendedAttributeCondition = .none
    ) throws(FileError) {
        guard let value = change.value else {
            try removeExtendedAttribute(named: change.key.attribute)
            return
        }
        guard change.key.accepts(value) else {
            let bytes = Array(value.text.utf8)
            throw .malformedValue(
                bytes, length: bytes.count, of: change.key, path: pathForMessages)
        }
        try setExtendedAttribute(
            named: change.attribute, to: Array(value.text.utf8), if: condition)
    }
}

private func applyInTurn(
    _ changes: [MarkChange], replacing known: [[UInt8]?]?, to file: NamedDescriptor
) throws(FileError) {
    var made: [(change: MarkChange, previous: [UInt8]?)] = []
    do throws(FileError) {
        for (index, change) in changes.enumerated() {
            let previous = try file.storedBytes(for: change)
            if let known, previous != known[index], previous != change.bytes {
                throw FileError(
                    code: .changed, message: "the mark changed in the meantime",
                    advice: "run again")
            }
            try file.make(
                change, if: known == nil ? .none : previous == nil ? .absent : .present)
            made.append((change, previous))
        }
    } catch {
        var failure = error
        for (change, previous) in made.reversed() {
            do throws(FileError) {
                try putBack(previous, replacing: change, on: file)
            } catch {
                failure.message += "; \(change.key.name) stays changed: \(error.message)"
            }
        }
        throw failure
    }
}

extension NamedDescriptor {
    /// Returns what a change replaces. Where no attributes are stored, nothing has to be removed.
    fileprivate func storedBytes(for change: MarkChange) throws(FileError) -> [UInt8]? {
        do throws(FileError) {
            return try extendedAttribute(named: change.attribute)
        } catch  where error.code == .unsupportedFilesystem && change.value == nil {
            return nil
        }
    }
}

private func putBack(
    _ previous: [UInt8]?, replacing change: MarkChange, on file: NamedDescriptor
) throws(FileError) {
    guard try file.extendedAttribute(named: change.attribute) == change.bytes else { return }
    if let previous {
        try file.setExtendedAttribute(named: change.attribute, to: previous)
    } else {
        try file.removeExtendedAttribute(named: change.attribute)
    }
}
