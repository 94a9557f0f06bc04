import CLinux

/// What setting an extended attribute requires of the attribute's state before.
public enum ExtendedAttributeCondition: Sendable, Hashable {
    /// Nothing: create or replace.
    case none
    /// The attribute does not exist (`XATTR_CREATE`).
    case absent
    /// The attribute exists (`XATTR_REPLACE`).
    case present

    package var flags: CInt {
        switch self {
        case .none: 0
        case .absent: CInt(XATTR_CREATE)
        case .present: CInt(XATTR_REPLACE)
        }
    }
}
