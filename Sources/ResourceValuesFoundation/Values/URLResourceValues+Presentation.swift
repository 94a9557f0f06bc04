#if !canImport(Darwin)
import Foundation

// Properties: what desktops show.

extension URLResourceValues {
    /// Always nil: Linux has no uniform type identifiers.
    public var typeIdentifier: String? { text(.typeIdentifier) }

    /// Always nil: Linux has no uniform type identifiers.
    public var localizedTypeDescription: String? { text(.localizedTypeDescription) }

    /// Always nil: Linux has no labels. Setting it throws `CocoaError.featureUnsupported`.
    public var labelNumber: Int? {
        get { integer(.labelNumber) }
        set { assign(newValue.map { .integer($0) }, to: .labelNumber) }
    }

    /// Always nil: Linux has no labels.
    public var localizedLabel: String? { text(.localizedLabel) }

    /// Always nil: Linux has no tags. Setting it throws `CocoaError.featureUnsupported`.
    public var tagNames: [String]? {
        get { object(.tagNames) }
        set { assign(newValue.map { .object($0) }, to: .tagNames) }
    }

    /// Always nil: the kernel knows no icons.
    public var effectiveIcon: AnyObject? { object(.effectiveIcon) }
}
#endif
