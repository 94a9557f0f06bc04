import ResourceValuesDropIn

struct Sizes {
    let cachesDirectory: URL

    func getFileSize(url: URL) -> Int64? {
        let values = try? url.resourceValues(forKeys: [
            .fileAllocatedSizeKey,
            .totalFileAllocatedSizeKey,
        ])

        return values?.totalFileAllocatedSize.map { Int64($0) }
    }

    func getDirectorySize(url: URL) -> Int64 {
        guard
            let enumerator = FileManager.default.enumerator(
                at: url,
                includingPropertiesForKeys: [.totalFileAllocatedSizeKey]
            )
        else { return 0 }

        var totalSize: Int64 = 0

        for case let fileURL as URL in enumerator {
            if let size = getFileSize(url: fileURL) {
                totalSize += size
            }
        }

        return totalSize
    }

    func run() {
        let cacheSize = getDirectorySize(url: cachesDirectory)
        print("Cache using \(cacheSize / 1_000_000) MB")
    }
}

/// `sizes DIRECTORY FILE...`: prints the directory's size as the guide does, then in bytes, then that of
/// each file.
func runSizes(_ arguments: [String]) {
    let directory = URL(fileURLWithPath: arguments[0], isDirectory: true)
    let sizes = Sizes(cachesDirectory: directory)
    sizes.run()
    print(sizes.getDirectorySize(url: directory))
    for path in arguments.dropFirst() {
        print(sizes.getFileSize(url: URL(fileURLWithPath: path)) ?? -1)
    }
}

struct BackupAudit {
    func auditBackupSize() {
        let documentsURL = FileManager.default.urls(
            for: .documentDirectory,
            in: .userDomainMask
        )[0]

        let size = getDirectorySize(url: documentsURL)
        print("Documents (backed up): \(size / 1_000_000) MB")

        if size > 100 * 1_000_000 {
            print("⚠️ Large backup size - check for re-downloadable files")
            findLargeFiles(in: documentsURL)
        }
    }

    func findLargeFiles(in directory: URL) {
        guard
            let enumerator = FileManager.default.enumerator(
                at: directory,
                includingPropertiesForKeys: [.totalFileAllocatedSizeKey]
            )
        else { return }

        for case let fileURL as URL in enumerator {
            if let size = getFileSize(url: fileURL),
                size > 10 * 1_000_000
            {
                print("Large file: \(fileURL.lastPathComponent) (\(size / 1_000_000) MB)")

                if !isExcludedFromBackup(url: fileURL) {
                    print("⚠️ Should this be excluded from backup?")
                }
            }
        }
    }

    func getDirectorySize(url: URL) -> Int64 {
        Sizes(cachesDirectory: url).getDirectorySize(url: url)
    }

    func getFileSize(url: URL) -> Int64? { Sizes(cachesDirectory: url).getFileSize(url: url) }

    func isExcludedFromBackup(url: URL) -> Bool { ExclusionCheck().isExcludedFromBackup(url: url) }
}
