import ResourceValuesDropIn

/// `include PATH`: sets `isExcludedFromBackup` to false, as programs do with files that they keep.
func runInclude(_ arguments: [String]) throws {
    var values = URLResourceValues()
    values.isExcludedFromBackup = false
    try URL(fileURLWithPath: arguments[0]).setResourceValues(values)
}
