import ResourceValues
import StoragePolicy

/// Whether anything enforces the protection class of an item.
public enum ProtectionVerdict: String, Sendable, Hashable, CaseIterable {
    /// Nothing enforces the class.
    case advisory
    /// Whether and when the content is encrypted cannot be determined.
    case unknown
    /// The volume is encrypted as a whole: its content can be read while it is mounted only.
    case atRestOnly = "at-rest-only"

    /// Returns the verdict on an item; nil if it has no class, or the class `none`.
    package init?(on item: EffectiveItem) {
        var verdicts = ProtectionVerdicts()
        let wanted = item.decision.protectionClass
        guard let verdict = verdicts.verdict(on: wanted, of: item.status) else { return nil }
        self = verdict
    }

    package var sentence: String {
        switch self {
        case .atRestOnly: "the volume is encrypted, but unlocked for as long as it is mounted"
        case .advisory: "nothing enforces the class, and the volume is not encrypted"
        case .unknown: "whether and when the content is encrypted is not known"
        }
    }
}

/// The verdicts on many items. Each volume is examined once.
package struct ProtectionVerdicts: Sendable {
    private var volumes: [UInt64: ProtectionVerdict] = [:]

    package init() {}

    package mutating func verdict(
        on wanted: FileProtection?, of status: FileStatus
    ) -> ProtectionVerdict? {
        guard let wanted, wanted != .none else { return nil }
        // When the key of an encrypted directory is removed is up to the program that has it.
        if status.isEncrypted { return .unknown }
        let device = status.identity.device
        if let known = volumes[device] { return known }
        let verdict: ProtectionVerdict
        switch Volume(holding: status)?.isEncrypted {
        case true?: verdict = .atRestOnly
        case false?: verdict = .advisory
        case nil: verdict = .unknown
        }
        volumes[device] = verdict
        return verdict
    }
}
