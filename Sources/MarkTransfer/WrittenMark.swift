import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemCalls

/// A mark that is written on an item because it has another one.
package enum WrittenMark: Sendable, Hashable {
    /// This package's own mark of exclusion.
    case native(Bool)
    /// Apple's exclusion, as rsync and netatalk store it.
    case apple
    /// The attribute that robots making backups shall obey: whether to include the item.
    case xdg(Bool)
    /// The nodump flag of the inode.
    case nodump

    /// The kind of mark.
    package var marker: Marker {
        switch self {
        case .native: .native
        case .apple: .apple
        case .xdg: .xdg
        case .nodump: .nodump
        }
    }

    /// The bytes that are stored; for the flag, which has none, the word that stands for it.
    package var value: [UInt8] {
        switch self {
        case .native(let value), .xdg(let value): Array(value.attributeText.utf8)
        case .apple: appleExclusion
        case .nodump: Array("set".utf8)
        }
    }

    /// The mark and its value as output shows them, such as `native=true`.
    package var assignment: String {
        switch self {
        case .native(let value), .xdg(let value): "\(marker.rawValue)=\(value)"
        case .apple, .nodump: "\(marker.rawValue)=set"
        }
    }

    /// The attribute that holds the mark; nil for the flag.
    var attribute: ExtendedAttributeName? {
        switch self {
        case .native: StoredKey<Bool>.isExcludedFromBackup.attribute
        case .apple: ForeignAttribute.apple.first
        case .xdg: ForeignAttribute.xdg
        case .nodump: nil
        }
    }

    /// The mark that stores a value under a marker's name; nil when this module writes none such.
    package init?(_ marker: Marker, value: [UInt8]) {
        let known: [WrittenMark] = [
            .native(true), .native(false), .apple, .xdg(true), .xdg(false), .nodump,
        ]
        guard let mark = known.first(where: { $0.marker == marker && $0.value == value })
        else { return nil }
        self = mark
    }
}

/// What Apple's systems store: a binary property list that is the string `com.apple.backupd`.
private let appleExclusion: [UInt8] = {
    let text = Array("com.apple.backupd".utf8)
    var bytes = Array("bplist00".utf8)
    // One object, an ASCII string whose length is the integer that follows.
    bytes += [0x5F, 0x10, UInt8(text.count)] + text
    let tableOffset = UInt8(bytes.count)
    // The table of offsets, of one byte each, has the one object, behind the eight bytes at the start.
    bytes += [8]
    // The trailer: sizes of offsets and references, the number of objects, the first one, the table.
    bytes += [UInt8](repeating: 0, count: 6) + [1, 1]
    bytes += [UInt8](repeating: 0, count: 7) + [1]
    bytes += [UInt8](repeating: 0, count: 8)
    bytes += [UInt8](repeating: 0, count: 7) + [tableOffset]
    return bytes
}()
