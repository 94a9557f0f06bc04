import ResourceValuesDropIn

struct SpaceCheck {
    func checkSpaceBeforeSaving(fileSize: Int64, isEssential: Bool) -> Bool {
        let homeURL = FileManager.default.homeDirectoryForCurrentUser

        do {
            let values = try homeURL.resourceValues(forKeys: [
                .volumeAvailableCapacityForImportantUsageKey,
                .volumeAvailableCapacityForOpportunisticUsageKey,
            ])

            if isEssential {
                let importantCapacity = values.volumeAvailableCapacityForImportantUsage ?? 0
                return fileSize < importantCapacity
            } else {
                let opportunisticCapacity =
                    values.volumeAvailableCapacityForOpportunisticUsage ?? 0
                return fileSize < opportunisticCapacity
            }
        } catch {
            print("Error checking capacity: \(error)")
            return false
        }
    }
}

/// `check-space BYTES...`: whether essential and optional files of these sizes may be saved.
func runSpaceCheck(_ arguments: [String]) {
    for size in arguments.compactMap(Int64.init) {
        let check = SpaceCheck()
        print(
            check.checkSpaceBeforeSaving(fileSize: size, isEssential: true),
            check.checkSpaceBeforeSaving(fileSize: size, isEssential: false))
    }
}

/// Mended: the guide passes `imageData.count`, an Int, for an Int64.
struct SpaceCheckUsage {
    let imageData = Data(repeating: 1, count: 3000)
    let documentsURL = FileManager.default.urls(for: .documentDirectory, in: .userDomainMask)[0]

    func checkSpaceBeforeSaving(fileSize: Int64, isEssential: Bool) -> Bool {
        SpaceCheck().checkSpaceBeforeSaving(fileSize: fileSize, isEssential: isEssential)
    }

    func showLowStorageAlert() { print("low storage") }

    func run() throws {
        if checkSpaceBeforeSaving(fileSize: Int64(imageData.count), isEssential: true) {
            try imageData.write(to: documentsURL.appendingPathComponent("photo.jpg"))
        } else {
            showLowStorageAlert()
        }
    }
}

/// Mended: the guide compares with the optional that `try? … ?? 0` is.
struct Thresholds {
    func shouldDownloadThumbnail(size: Int64) -> Bool {
        let capacity =
            (try? FileManager.default.homeDirectoryForCurrentUser
                .resourceValues(forKeys: [.volumeAvailableCapacityForOpportunisticUsageKey])
                .volumeAvailableCapacityForOpportunisticUsage) ?? 0

        return size < capacity
    }

    func canSaveUserDocument(size: Int64) -> Bool {
        let capacity =
            (try? FileManager.default.homeDirectoryForCurrentUser
                .resourceValues(forKeys: [.volumeAvailableCapacityForImportantUsageKey])
                .volumeAvailableCapacityForImportantUsage) ?? 0

        return size < capacity
    }
}

/// `thresholds BYTES...`: whether documents and thumbnails of these sizes may be saved.
func runThresholds(_ arguments: [String]) {
    for size in arguments.compactMap(Int64.init) {
        let thresholds = Thresholds()
        print(
            thresholds.canSaveUserDocument(size: size),
            thresholds.shouldDownloadThumbnail(size: size))
    }
}

struct AvailableSpace {
    func availableDiskSpace() throws -> Int64 {
        let values = try URL(fileURLWithPath: NSHomeDirectory())
            .resourceValues(forKeys: [.volumeAvailableCapacityForImportantUsageKey])
        return values.volumeAvailableCapacityForImportantUsage ?? 0
    }

    func hasSpaceForDownload(bytes: Int64) throws -> Bool {
        let available = try availableDiskSpace()
        return available > bytes
    }
}

/// `available BYTES...`: the space for important use, and whether downloads of these sizes fit.
func runAvailableSpace(_ arguments: [String]) throws {
    let space = AvailableSpace()
    print(try space.availableDiskSpace())
    for size in arguments.compactMap(Int64.init) {
        print(try space.hasSpaceForDownload(bytes: size))
    }
}

struct CleanupCheck {
    func availableDiskSpace() throws -> Int64 { try AvailableSpace().availableDiskSpace() }

    func performCleanup() throws { print("cleaning up") }

    func checkStorageAndCleanup() throws {
        let availableBytes = try availableDiskSpace()
        let threshold: Int64 = 100 * 1024 * 1024
        if availableBytes < threshold {
            try performCleanup()
        }
    }
}

/// `check-cleanup`: says whether less than 100 MiB are left, by cleaning up.
func runCleanupCheck(_ arguments: [String]) throws {
    try CleanupCheck().checkStorageAndCleanup()
}
