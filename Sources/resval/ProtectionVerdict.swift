import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemCalls

/// Whether anything enforces the protection class of an item.
enum ProtectionVerdict: String {
    /// The volume is encrypted as a whole: its content can be read while it is mounted only.
    case atRestOnly = "at-rest-only"
    /// Nothing enforces the class.
    case advisory
    case unknown

    /// Returns the verdict on an item; nil if it has no class, or the class `none`.
    init?(on item: EffectiveItem) {
        self.init(item.decision.protectionClass, on: item.status)
    }

    /// Returns the verdict on a class of an item; nil for no class, or the class `none`.
    init?(_ wanted: FileProtection?, on status: FileStatus) {
        guard let wanted, wanted != .none else { return nil }
        // When the key of an encrypted directory is removed is up to the program that has it.
        if status.isEncrypted {
            self = .unknown
        } else {
            switch Volume(holding: status)?.isEncrypted {
            case true?: self = .atRestOnly
            case false?: self = .advisory
            case nil: self = .unknown
            }
        }
    }

    /// The verdict in words.
    var sentence: String {
        switch self {
        case .atRestOnly: "the volume is encrypted, but unlocked for as long as it is mounted"
        case .advisory: "nothing enforces the class, and the volume is not encrypted"
        case .unknown: "whether and when the content is encrypted is not known"
        }
    }
}
