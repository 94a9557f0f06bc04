// storage-guide SAMPLE ARGUMENT...
//
// Samples of Apple's storage guides, as they are written there but for their imports, each in a type of
// its own, since several declare functions of the same name. After each sample comes what runs it. The
// page StorageGuide of ResourceValuesFoundation says what each shows; StorageGuideTests runs them.

import ResourceValuesDropIn

let samples: [String: ([String]) async throws -> Void] = [
    "audit": { _ in BackupAudit().auditBackupSize() },
    "available": runAvailableSpace,
    "cache-manager": runCacheManager,
    "check-cleanup": runCleanupCheck,
    "check-space": runSpaceCheck,
    "cleaner": { _ in try StorageCleaning().run() },
    "directories": { _ in try Directories().run() },
    "download-optional": runOptionalDownload,
    "download-task": runDownloadTask,
    "exclude": runExclusion,
    "is-excluded": runExclusionChecks,
    "media": runMediaDownload,
    "monitor": { _ in StorageMonitoring.StorageMonitor().checkStorageAndCleanup() },
    "offline": runOfflineData,
    "podcast": runPodcastDownload,
    "priority": runPrioritySaving,
    "protection": runProtection,
    "protection-options": runProtectionOptions,
    "protection-switch": runProtectionSwitch,
    "sizes": runSizes,
    "thresholds": runThresholds,
    "thumbnail": runThumbnail,
    "usage": { _ in try SpaceCheckUsage().run() },
]

guard let name = CommandLine.arguments.dropFirst().first, let run = samples[name] else {
    print("usage: storage-guide \(samples.keys.sorted().joined(separator: "|")) ARGUMENT...")
    exit(64)
}
do {
    try await run(Array(CommandLine.arguments.dropFirst(2)))
} catch let error as CocoaError {
    print("failed: CocoaError \(error.code.rawValue)")
    exit(1)
}
