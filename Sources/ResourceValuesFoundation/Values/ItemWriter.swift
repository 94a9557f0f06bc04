#if !canImport(Darwin)
import EffectiveValues
import Foundation
import ResourceValues
import StoragePolicy
import SystemPackage

/// Stores assigned values on one item, and keeps track of those not stored yet.
struct ItemWriter {
    /// The keys not stored yet.
    private(set) var pending: [KnownKey]
    private let values: URLResourceValues

    init(_ values: URLResourceValues) {
        self.values = values
        pending = values.settableKeys
    }

    var pendingKeys: [URLResourceKey] { pending.map { URLResourceKey($0) } }

    /// Values that cannot be stored at all are rejected first, before anything is changed. The
    /// immutable flag is cleared before the other changes and set after them; renaming comes last,
    /// since the URL does not lead to the item afterwards.
    mutating func write(to item: CallTarget, at url: URL) throws {
        // A missing item is an error even if there is nothing to store.
        let status = try item.fileStatus()
        var reader = ItemReader(url, item)
        for key in pending where key.isFixed { try requireUnchanged(key, &reader) }
        if immutability == false { try setImmutability(of: item, status) }
        try storeMarks(on: item, at: url)
        try storeTimes(on: item)
        if immutability == true { try setImmutability(of: item, status) }
        try rename(item, at: url)
    }

    private mutating func requireUnchanged(
        _ key: KnownKey, _ reader: inout ItemReader
    ) throws {
        let same = try reader.values([URLResourceKey(key)])[key].map { isSame($0, values[key]) }
        guard same == true else {
            throw FileError(
                code: .unsupportedFileKind, message: "Linux cannot store \(key.rawValue)")
        }
        pending.removeAll { $0 == key }
    }

    private mutating func storeMarks(on item: CallTarget, at url: URL) throws {
        var changes: [MarkChange] = []
        for key in pending {
            guard let mark = key.mark, let value = values[key] else { continue }
            if case .inherited = value { continue }
            // Where nothing is set, there may be no way to unset anything either.
            if value.isUnset, try item.value(for: mark) == nil { continue }
            guard value.isUnset || value.stored.map(mark.accepts) == true else {
                throw FileError(
                    code: .unsupportedFileKind,
                    message: "the value given for \(mark.name) is not valid")
            }
            changes.append(MarkChange(mark, to: value.stored))
        }
        do {
            try item.apply(changes)
        } catch {
            guard (try? isAsStored(changes, at: url, after: error)) == true else { throw error }
        }
        pending.removeAll { $0.mark != nil }
    }

    /// Whether an item on which no attributes can be stored is as if the changes were made: what they
    /// say applies to it anyway.
    private func isAsStored(
        _ changes: [MarkChange], at url: URL, after error: any Error
    ) throws -> Bool {
        guard (error as? FileError)?.code == .unsupportedFilesystem,
            changes.allSatisfy(\.needsNoStoring)
        else { return false }
        let policy = StoragePolicy(locations: PolicyEnvironment.current().locations)
        let decision = try EffectiveValueReader(policy)
            .item(at: url.filePath(), followsLast: false).decision
        return changes.allSatisfy { change in
            change.key == .fileProtection
                ? !decision.protection.cause.forbidsPlaintext : !decision.isExcluded
        }
    }

    private mutating func storeTimes(on item: CallTarget) throws(FileError) {
        let access = values.contentAccessDate.map { FileTime($0) }
        let modification = values.contentModificationDate.map { FileTime($0) }
        guard access != nil || modification != nil else { return }
        try item.requireNotEvicted()
        do throws(Errno) {
            try item.setTimes(access: access, modification: modification)
        } catch {
            throw item.storingError(error)
        }
        // The kernel stores the nearest date that the filesystem has: one before 1970 or after 2038 may be
        // far from it. Others may change the time of any other date meanwhile, and some filesystems keep days.
        let status = try item.fileStatus()
        for (wanted, stored) in [
            (access, status.contentAccessTime), (modification, status.contentModificationTime),
        ] {
            guard let wanted, !(0...Int64(Int32.max)).contains(wanted.seconds),
                abs(wanted.seconds.subtractingSaturating(stored.seconds)) > 86400
            else { continue }
            throw FileError(
                code: .unsupportedFileKind,
                message: "the filesystem cannot store this date, but \(stored.rfc3339)")
        }
        pending.removeAll { $0 == .contentAccessDate || $0 == .contentModificationDate }
    }

    /// Whether the item shall be immutable, by either key, since Linux has one flag; nil leaves it
    /// unchanged.
    private var immutability: Bool? {
        guard let system = values.isSystemImmutable else { return values.isUserImmutable }
        return system || values.isUserImmutable ?? false
    }

    private mutating func setImmutability(
        of item: CallTarget, _ status: FileStatus
    ) throws(FileError) {
        guard let immutability else { return }
        if !status.knowsImmutable || immutability != status.isImmutable {
            do throws(Errno) {
                try setImmutable(immutability, of: item, status.kind)
            } catch .notSupported where !immutability {
                // There is no flag to clear.
            } catch {
                throw item.storingError(error)
            }
        }
        pending.removeAll { $0 == .isSystemImmutable || $0 == .isUserImmutable }
    }

    private mutating func rename(_ item: CallTarget, at url: URL) throws {
        guard let name = values.name else { return }
        let path = try url.filePath()
        guard let old = path.lastComponent, old.kind == .regular, !name.isEmpty,
            !name.utf8.contains(0), let new = FilePath.Component(name), new.kind == .regular
        else {
            let shown = NameEscaping.text(Array(name.utf8))
            throw FileError(code: .nameTooLong, message: "\(shown) is not a valid file name")
        }
        if new != old {
            do throws(Errno) {
                let parent = OwnedDescriptor(
                    try openReference(to: path.removingLastComponent()))
                try renameItem(
                    FilePath(root: nil, [old]), in: parent.descriptor,
                    to: FilePath(root: nil, [new]), in: parent.descriptor, .absent)
            } catch .fileExists {
                throw FileError(
                    code: .attributeExists, message: "an item of this name already exists",
                    errno: .fileExists)
            } catch {
                throw FileError(error, of: nil)
            }
        }
        pending.removeAll { $0 == .name }
    }
}

extension MarkChange {
    /// Whether the item is as if the value were stored, where nothing else applies to it. `false` of
    /// isPurgeable is not among these values: it pins the item, whatever applies later.
    fileprivate var needsNoStoring: Bool {
        switch value {
        case .boolean(false): key == .isExcludedFromBackup
        case .protection(.none): true
        default: false
        }
    }
}

private func setImmutable(
    _ isImmutable: Bool, of item: CallTarget, _ kind: FileKind
) throws(Errno) {
    // Other kinds have no flags, and opening a device can have side effects.
    guard kind.canStoreUserAttributes else { throw .notSupported }
    let file = OwnedDescriptor(
        try openFile(item, flags: [.readOnly, .nonBlocking, .noTerminal]))
    do throws(Errno) {
        try setImmutable(isImmutable, of: file.descriptor)
    } catch .inappropriateIOCTLForDevice {
        throw .notSupported
    }
}

/// Whether an assigned value equals the one that was read. A date restored from text or from a
/// property list can differ by less than a microsecond.
func isSame(_ read: PropertyValue, _ assigned: PropertyValue?) -> Bool {
    switch (read, assigned) {
    case (.boolean(let read), .boolean(let assigned)?): read == assigned
    case (.text(let read), .text(let assigned)?): read == assigned
    case (.date(let read), .date(let assigned)?): abs(read.timeIntervalSince(assigned)) < 1e-6
    default: false
    }
}
#endif
