// overlay FILE: stores and reads resource values of a URL as on Apple's systems.

import ResourceValuesFoundation

var url = URL(fileURLWithPath: CommandLine.arguments[1])
var values = URLResourceValues()
values.isExcludedFromBackup = true
values.isPurgeable = true
try url.setResourceValues(values)
let stored = try url.resourceValues(forKeys: [
    .isExcludedFromBackupKey, .isPurgeableKey, .fileSizeKey, .volumeAvailableCapacityKey,
])
print("excluded: \(stored.isExcludedFromBackup == true)")
print("purgeable: \(stored.isPurgeable == true)")
print("size: \(stored.fileSize ?? -1)")
print("capacity: \((stored.volumeAvailableCapacity ?? 0) > 0)")
