#if !canImport(Darwin)
// Keys: which volume it is.

extension URLResourceKey {
    /// The key of ``URLResourceValues/volumeName``.
    public static let volumeNameKey = URLResourceKey(.volumeName)
    /// The key of ``URLResourceValues/volumeLocalizedName``.
    public static let volumeLocalizedNameKey = URLResourceKey(.volumeLocalizedName)
    /// The key of ``URLResourceValues/volumeLocalizedFormatDescription``.
    public static let volumeLocalizedFormatDescriptionKey =
        URLResourceKey(.volumeLocalizedFormatDescription)
    /// The key of ``URLResourceValues/volumeTypeName``.
    public static let volumeTypeNameKey = URLResourceKey(.volumeTypeName)
    /// The key of ``URLResourceValues/volumeSubtype``.
    public static let volumeSubtypeKey = URLResourceKey(.volumeSubtype)
    /// The key of ``URLResourceValues/volumeMountFromLocation``.
    public static let volumeMountFromLocationKey = URLResourceKey(.volumeMountFromLocation)
    /// The key of ``URLResourceValues/volumeUUIDString``.
    public static let volumeUUIDStringKey = URLResourceKey(.volumeUUIDString)
    /// The key of ``URLResourceValues/volumeCreationDate``.
    public static let volumeCreationDateKey = URLResourceKey(.volumeCreationDate)
    /// The key of ``URLResourceValues/volumeURLForRemounting``.
    public static let volumeURLForRemountingKey = URLResourceKey(.volumeURLForRemounting)
    /// The key of ``URLResourceValues/volumeIsRootFileSystem``.
    public static let volumeIsRootFileSystemKey = URLResourceKey(.volumeIsRootFileSystem)
    /// The key of ``URLResourceValues/volumeIsReadOnly``.
    public static let volumeIsReadOnlyKey = URLResourceKey(.volumeIsReadOnly)
    /// The key of ``URLResourceValues/volumeIsLocal``.
    public static let volumeIsLocalKey = URLResourceKey(.volumeIsLocal)
    /// The key of ``URLResourceValues/volumeIsEncrypted``.
    public static let volumeIsEncryptedKey = URLResourceKey(.volumeIsEncrypted)
    /// The key of ``URLResourceValues/volumeIsAutomounted``.
    public static let volumeIsAutomountedKey = URLResourceKey(.volumeIsAutomounted)
    /// The key of ``URLResourceValues/volumeIsBrowsable``.
    public static let volumeIsBrowsableKey = URLResourceKey(.volumeIsBrowsable)
    /// The key of ``URLResourceValues/volumeIsRemovable``.
    public static let volumeIsRemovableKey = URLResourceKey(.volumeIsRemovable)
    /// The key of ``URLResourceValues/volumeIsEjectable``.
    public static let volumeIsEjectableKey = URLResourceKey(.volumeIsEjectable)
    /// The key of ``URLResourceValues/volumeIsInternal``.
    public static let volumeIsInternalKey = URLResourceKey(.volumeIsInternal)
    /// The key of ``URLResourceValues/volumeIsJournaling``.
    public static let volumeIsJournalingKey = URLResourceKey(.volumeIsJournaling)
}
#endif
