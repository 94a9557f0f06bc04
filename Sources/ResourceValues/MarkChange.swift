import SystemCalls
import SystemPackage

/// A change of one stored key: a value to store, or nil to remove it.
public struct MarkChange: Sendable, Hashable {
    /// The key to change.
    public let key: ResourceKey
    /// The value to store; nil to remove the stored value.
    public let value: ResourceValue?
    /// The attribute that stores the key's value.
    @usableFromInline package let attribute: ExtendedAttributeName
    /// The bytes to store; nil to remove the attribute.
    @usableFromInline package let bytes: [UInt8]?

    /// Creates a change of a key.
    public init<Value>(_ key: StoredKey<Value>, to value: Value?) {
        self.key = key.key
        self.value = value?.resourceValue
        attribute = key.attribute
        bytes = value.map { Array($0.attributeText.utf8) }
    }

    /// Creates a change from a key and a value of any type.
    ///
    /// - Parameters:
    ///   - key: a stored key.
    ///   - value: the value to store; nil to remove the stored value.
    /// - Returns: nil if the key is computed, or the value is not of its type.
    public init?(_ key: ResourceKey, to value: ResourceValue?) {
        guard let change = key.stored?.change(to: value) else { return nil }
        self = change
    }
}

extension FileLocation where Self: ~Copyable {
    /// Makes all changes or none.
    ///
    /// Several changes are made on one open file, so that they all reach the same file. If one fails, those before it are reverted, each only if the value is
    /// still the one that this call stored: a value that another program stored since then is kept.
    ///
    /// - Throws: ``FileError``, as ``setExtendedAttribute(named:to:if:)``. Nothing is changed then,
    ///   unless the message says what could not be reverted.
    @inlinable
    public func apply(_ changes: [MarkChange]) throws(FileError) {
        if changes.count > 1 {
            try applyAll(changes)
        } else if let change = changes.first {
            try make(change)
        }
    }

    @usableFromInline
    func applyAll(_ changes: [MarkChange]) throws(FileError) {
        if let open = openDescriptor {
            return try applyInTurn(changes, to: open.named(pathForMessages))
        }
        let file: OwnedDescriptor
        do throws(Errno) {
            file = try openAttributeReference(to: self)
        } catch {
            throw .opening(error, pathForMessages)
        }
        try applyInTurn(changes, to: file.descriptor.named(pathForMessages))
    }

    @inlinable
    func make(_ change: MarkChange) throws(FileError) {
        if let bytes = change.bytes {
            try setExtendedAttribute(named: change.attribute, to: bytes)
        } else {
            try removeExtendedAttribute(named: change.attribute)
        }
    }
}

private struct MadeChange {
    let change: MarkChange
    let previous: [UInt8]?
}

private func applyInTurn(_ changes: [MarkChange], to file: NamedDescriptor) throws(FileError) {
    var made: [MadeChange] = []
    do throws(FileError) {
        for change in changes {
            let previous = try file.extendedAttribute(named: change.attribute)
            try file.make(change)
            made.append(MadeChange(change: change, previous: previous))
        }
    } catch {
        var failure = error
        for madeChange in made.reversed() {
            do throws(FileError) {
                try putBack(madeChange, on: file)
            } catch {
                failure.message += "; \(madeChange.change.key.name) stays changed: \(error.message)"
            }
        }
        throw failure
    }
}

private func putBack(_ made: MadeChange, on file: NamedDescriptor) throws(FileError) {
    let current = try file.extendedAttribute(named: made.change.attribute)
    guard current == made.change.bytes else { return }
    if let previous = made.previous {
        try file.setExtendedAttribute(named: made.change.attribute, to: previous)
    } else {
        try file.removeExtendedAttribute(named: made.change.attribute)
    }
}
