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

extension URLResourceKey {
    /// The key of ``URLResourceValues/typeIdentifier``.
    public static let typeIdentifierKey = URLResourceKey(.typeIdentifier)
    /// The key of ``URLResourceValues/localizedTypeDescription``.
    public static let localizedTypeDescriptionKey = URLResourceKey(.localizedTypeDescription)
    /// The key of ``URLResourceValues/labelNumber``.
    public static let labelNumberKey = URLResourceKey(.labelNumber)
    /// The key of ``URLResourceValues/localizedLabel``.
    public static let localizedLabelKey = URLResourceKey(.localizedLabel)
    /// The key of ``URLResourceValues/tagNames``.
    public static let tagNamesKey = URLResourceKey(.tagNames)
    /// The key of ``URLResourceValues/effectiveIcon``.
    public static let effectiveIconKey = URLResourceKey(.effectiveIcon)
}
#endif
