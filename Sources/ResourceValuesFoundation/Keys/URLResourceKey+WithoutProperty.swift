#if !canImport(Darwin)
// Keys without a property.

extension URLResourceKey {
    /// Its property's type comes from AppKit or UIKit; here the value is always nil.
    public static let labelColorKey = URLResourceKey(.labelColor)
    /// Its property's type comes from AppKit or UIKit; here the value is always nil.
    public static let customIconKey = URLResourceKey(.customIcon)
    /// Its property's type comes from AppKit or UIKit; here the value is always nil.
    public static let thumbnailKey = URLResourceKey(.thumbnail)
    /// Its property's type comes from AppKit or UIKit; here the value is always nil.
    public static let thumbnailDictionaryKey = URLResourceKey(.thumbnailDictionary)
    /// Its property's type comes from UniformTypeIdentifiers; here the value is always nil.
    public static let contentTypeKey = URLResourceKey(.contentType)
    /// Deprecated by Apple, without a property; the value is always nil.
    public static let ubiquitousItemIsDownloadedKey = URLResourceKey(.ubiquitousItemIsDownloaded)
    /// Deprecated by Apple, without a property; the value is always nil.
    public static let ubiquitousItemPercentDownloadedKey =
        URLResourceKey(.ubiquitousItemPercentDownloaded)
    /// Deprecated by Apple, without a property; the value is always nil.
    public static let ubiquitousItemPercentUploadedKey =
        URLResourceKey(.ubiquitousItemPercentUploaded)
    /// In the `userInfo` of an error that `setResourceValues(_:)` throws: the keys that were not
    /// set, as an array of ``URLResourceKey``.
    public static let keysOfUnsetValuesKey = URLResourceKey(.keysOfUnsetValues)
}
#endif
