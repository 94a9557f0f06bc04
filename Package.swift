// swift-tools-version: 6.2

import PackageDescription

let argumentParser = Target.Dependency.product(
    name: "ArgumentParser", package: "swift-argument-parser")
let subprocess = Target.Dependency.product(name: "Subprocess", package: "swift-subprocess")
let systemPackage = Target.Dependency.product(name: "SystemPackage", package: "swift-system")

let package = Package(
    name: "ResourceValues",
    products: [
        .library(name: "ResourceValues", targets: ["ResourceValues"]),
        .library(name: "FileTree", targets: ["FileTree"]),
        .library(name: "StoragePolicy", targets: ["StoragePolicy"]),
        .library(name: "BackupPlanning", targets: ["BackupPlanning"]),
        .executable(name: "resval", targets: ["resval"]),
        .executable(name: "resval-backup", targets: ["resval-backup"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.2.0"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
        .package(
            url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2", traits: []),
    ],
    swiftLanguageModes: [.v6]
)

// What is shipped. scripts/allowed-imports says what each may import, the architecture page why.

package.targets += [
    .systemLibrary(name: "CLinux", pkgConfig: "libattr", providers: [.apt(["libattr1-dev"])]),
    .systemLibrary(
        name: "CArchive", pkgConfig: "libarchive", providers: [.apt(["libarchive-dev"])]),
    .systemLibrary(name: "CNettle", pkgConfig: "nettle", providers: [.apt(["nettle-dev"])]),
    .target(name: "SystemCalls", dependencies: ["CLinux", systemPackage]),
    .target(name: "ResourceValues", dependencies: ["SystemCalls", systemPackage]),
    .target(name: "JSONReading", dependencies: ["SystemCalls"]),
    .target(name: "JSONWriting", dependencies: ["SystemCalls"]),
    .target(
        name: "Eviction",
        dependencies: [
            "CLinux", "EffectiveValues", "ResourceValues", "SystemCalls", systemPackage,
        ]),
    .target(name: "FileTree", dependencies: ["CLinux", "SystemCalls", systemPackage]),
    .target(
        name: "StoragePolicy", dependencies: ["ResourceValues", "SystemCalls", systemPackage]),
    .target(
        name: "EffectiveValues",
        dependencies: [
            "CLinux", "JSONReading", "JSONWriting", "ResourceValues", "StoragePolicy",
            "SystemCalls", systemPackage,
        ]),
    .target(
        name: "BackupPlanning",
        dependencies: [
            "EffectiveValues", "Eviction", "FileTree", "ResourceValues", "StoragePolicy",
            "SystemCalls", systemPackage,
        ]),
    .target(
        name: "BackupEngines",
        dependencies: [
            "BackupPlanning", "CArchive", "CLinux", "CNettle", "EffectiveValues", "Eviction",
            "FileTree", "JSONReading", "JSONWriting", "ResourceValues", "StoragePolicy",
            subprocess, "SystemCalls", systemPackage,
        ]),
    .target(
        name: "CommandSupport",
        dependencies: [
            argumentParser, "CLinux", "EffectiveValues", "JSONWriting", "ResourceValues",
            "StoragePolicy", "SystemCalls", systemPackage,
        ]),
    .target(
        name: "MarkTransfer",
        dependencies: [
            "CLinux", "CommandSupport", "EffectiveValues", "JSONReading", "JSONWriting",
            "ResourceValues", "StoragePolicy", "SystemCalls", systemPackage,
        ]),
    .executableTarget(
        name: "resval",
        dependencies: [
            argumentParser, "CommandSupport", "EffectiveValues", "FileTree", "MarkTransfer",
            "ResourceValues", "StorageManagement", "StoragePolicy", "SystemCalls", systemPackage,
        ]),
    .target(name: "SettingsReading", dependencies: ["SystemCalls", systemPackage]),
    .target(
        name: "BackupSettings",
        dependencies: [
            "CLinux", "CommandSupport", "EffectiveValues", "JSONReading", "JSONWriting",
            "ResourceValues", "SettingsReading", "StoragePolicy", "SystemCalls", systemPackage,
        ]),
    .executableTarget(
        name: "resval-backup",
        dependencies: [
            argumentParser, "BackupEngines", "BackupPlanning", "BackupSettings", "CLinux",
            "CommandSupport", "EffectiveValues", "Eviction", "FileTree", "JSONReading",
            "JSONWriting", "ResourceValues", "SettingsReading", "StoragePolicy", subprocess,
            "SystemCalls", systemPackage,
        ]),
]

// What tests and benchmarks are made with.

package.targets += [
    .target(name: "CTestSupport", path: "Tests/CTestSupport"),
    .target(
        name: "TestSupport",
        dependencies: ["CLinux", "CTestSupport", "ResourceValues", "SystemCalls", systemPackage],
        path: "Tests/TestSupport"),
    .executableTarget(
        name: "mark-tool", dependencies: ["ResourceValues", systemPackage],
        path: "Tests/Helpers/mark-tool"),
    .executableTarget(
        name: "walk-tool", dependencies: ["FileTree", "SystemCalls", systemPackage],
        path: "Tests/Helpers/walk-tool"),
    .executableTarget(
        name: "ubiquitous-tool", dependencies: ["ResourceValuesFoundation"],
        path: "Tests/Helpers/ubiquitous-tool"),
    .executableTarget(
        name: "evict-tool", dependencies: ["Eviction", "SystemCalls", systemPackage],
        path: "Tests/Helpers/evict-tool"),
    .executableTarget(name: "without-xattrat", path: "Tests/Helpers/without-xattrat"),
    .executableTarget(
        name: "two-keys",
        dependencies: ["FileTree", "ResourceValues", "SystemCalls", systemPackage],
        path: "Tests/Benchmarks/two-keys"),
]

package.targets += [
    .testTarget(
        name: "TestSupportTests",
        dependencies: [
            "CTestSupport", "ResourceValues", "SystemCalls", "TestSupport", systemPackage,
        ]),
    .testTarget(
        name: "SystemCallsTests",
        dependencies: ["CLinux", "SystemCalls", "TestSupport", systemPackage]),
    .testTarget(
        name: "ResourceValuesTests",
        dependencies: [
            "ResourceValues", "SystemCalls", "TestSupport", "mark-tool", systemPackage,
        ]),
    .testTarget(
        name: "FilesystemTests",
        dependencies: [
            "ResourceValues", "SystemCalls", "TestSupport", "mark-tool", systemPackage,
        ]),
    .testTarget(
        name: "StoragePolicyTests",
        dependencies: ["ResourceValues", "StoragePolicy", systemPackage]),
    .testTarget(
        name: "FileTreeTests",
        dependencies: [
            "FileTree", "SystemCalls", "TestSupport", "walk-tool", "without-xattrat", systemPackage,
        ]),
    .testTarget(
        name: "BackupPlanningTests",
        dependencies: [
            "BackupPlanning", "CTestSupport", "EffectiveValues", "ResourceValues", "StoragePolicy",
            "SystemCalls", "TestSupport", systemPackage,
        ]),
    .testTarget(
        name: "EvictionTests",
        dependencies: [
            "CLinux", "EffectiveValues", "Eviction", "ResourceValues", "SystemCalls", "TestSupport",
            "evict-tool", systemPackage,
        ]),
    .testTarget(
        name: "EffectiveValuesTests",
        dependencies: [
            "CLinux", "EffectiveValues", "ResourceValues", "StoragePolicy", "SystemCalls",
            "TestSupport", "resval", systemPackage,
        ]),
    .testTarget(
        name: "ResvalTests",
        dependencies: [
            "EffectiveValues", "ResourceValues", "SystemCalls", "TestSupport", "resval",
            systemPackage,
        ]),
    .testTarget(
        name: "MarkTransferTests",
        dependencies: [
            "EffectiveValues", "MarkTransfer", "ResourceValues", "StoragePolicy", "SystemCalls",
            "TestSupport", systemPackage,
        ]),
    .testTarget(
        name: "BackupEnginesTests",
        dependencies: [
            "BackupEngines", "BackupPlanning", "CLinux", "EffectiveValues", "JSONReading",
            "JSONWriting", "ResourceValues", "StoragePolicy", "SystemCalls", "TestSupport",
            systemPackage,
        ]),
    .testTarget(
        name: "BackupSettingsTests",
        dependencies: [
            "BackupSettings", "CommandSupport", "ResourceValues", "SettingsReading",
            "StoragePolicy", "SystemCalls", "TestSupport", systemPackage,
        ]),
    .testTarget(
        name: "ResvalBackupTests",
        dependencies: [
            "CommandSupport", "ResourceValues", "SystemCalls", "TestSupport", "resval",
            "resval-backup", "resval-purge", "ubiquitous-tool", systemPackage,
        ]),
    .testTarget(
        name: "CommandSupportTests",
        dependencies: [
            argumentParser, "CommandSupport", "ResourceValues", "SystemCalls", systemPackage,
        ]),
]

// Foundation's URL resource values. On Apple's systems Foundation has them itself.

let linuxOnly = TargetDependencyCondition.when(platforms: [.linux])
package.products += [
    .library(name: "ResourceValuesFoundation", targets: ["ResourceValuesFoundation"])
]
package.targets += [
    .target(
        name: "ResourceValuesFoundation",
        dependencies: [
            .target(name: "EffectiveValues", condition: linuxOnly),
            .target(name: "Eviction", condition: linuxOnly),
            .target(name: "ResourceValues", condition: linuxOnly),
            .target(name: "SystemCalls", condition: linuxOnly),
            .product(name: "SystemPackage", package: "swift-system", condition: linuxOnly),
        ]),
    .target(
        name: "CallFormsSwift5", dependencies: ["ResourceValuesFoundation"],
        path: "Tests/CallForms/Swift5",
        swiftSettings: [.swiftLanguageMode(.v5), .treatAllWarnings(as: .error)]),
    .target(
        name: "CallFormsSwift6", dependencies: ["ResourceValuesFoundation"],
        path: "Tests/CallForms/Swift6"),
    .executableTarget(
        name: "url-keys", dependencies: ["ResourceValuesFoundation"],
        path: "Tests/Benchmarks/url-keys"),
    .testTarget(
        name: "ResourceValuesFoundationTests",
        dependencies: [
            "CallFormsSwift5", "CallFormsSwift6", "CLinux", "CTestSupport", "EffectiveValues",
            "resval-backup", "ResourceValues", "ResourceValuesFoundation",
            "SystemCalls", "TestSupport", systemPackage,
        ]),
]

// Foundation's own signatures, for files that import nothing else, and a program written with them.

package.products += [
    .library(name: "ResourceValuesDropIn", targets: ["ResourceValuesDropIn"])
]
package.targets += [
    .target(name: "ResourceValuesDropIn", dependencies: ["ResourceValuesFoundation"]),
    .executableTarget(
        name: "download-store", dependencies: ["ResourceValuesDropIn"],
        path: "Tests/Helpers/download-store"),
    .executableTarget(
        name: "write-forever", dependencies: ["ResourceValuesDropIn"],
        path: "Tests/Helpers/write-forever"),
    .testTarget(
        name: "ResourceValuesDropInTests",
        dependencies: [
            "ResourceValues", "ResourceValuesDropIn", "SystemCalls", "TestSupport",
            "download-store", "write-forever", systemPackage,
        ]),
]

// What may be deleted when space is short.

package.products += [.library(name: "PurgePlanning", targets: ["PurgePlanning"])]
package.targets += [
    .target(
        name: "PurgePlanning",
        dependencies: [
            "CLinux", "EffectiveValues", "FileTree",
            .product(name: "HeapModule", package: "swift-collections"), "JSONReading",
            "JSONWriting", "ResourceValues", "StoragePolicy", "SystemCalls", systemPackage,
        ],
        resources: [.embedInCode("Rules/not-a-cache.tsv")]),
    .executableTarget(
        name: "purge-tool",
        dependencies: ["EffectiveValues", "PurgePlanning", "SystemCalls", systemPackage],
        path: "Tests/Helpers/purge-tool"),
    .testTarget(
        name: "PurgeExecutingTests",
        dependencies: [
            "EffectiveValues", "PurgePlanning", "ResourceValues", "StoragePolicy", "SystemCalls",
            "TestSupport", "purge-tool", systemPackage,
        ]),
    .testTarget(
        name: "PurgePlanningTests",
        dependencies: [
            "EffectiveValues", "PurgePlanning", "ResourceValues", "StoragePolicy", "SystemCalls",
            "TestSupport", systemPackage,
        ]),
]

package.products += [.executable(name: "resval-purge", targets: ["resval-purge"])]
package.targets += [
    .executableTarget(
        name: "resval-purge",
        dependencies: [
            argumentParser, "CLinux", "CommandSupport", "EffectiveValues", "JSONWriting",
            "PurgePlanning", "PurgeWatching", "ResourceValues", "SettingsReading",
            "StorageManagement", "StoragePolicy", "SystemCalls", systemPackage,
        ]),
    .testTarget(
        name: "ResvalPurgeTests",
        dependencies: [
            "EffectiveValues", "PurgePlanning", "ResourceValues", "SystemCalls", "TestSupport",
            "resval", "resval-purge", systemPackage,
        ]),
]

// How much is left, and what programs do about it.

package.products += [.library(name: "StorageManagement", targets: ["StorageManagement"])]
package.targets += [
    .target(
        name: "StorageManagement",
        dependencies: [
            "CLinux", "EffectiveValues", "FileTree", "PurgePlanning", "ResourceValues",
            "StoragePolicy", "SystemCalls", systemPackage,
        ]),
    .testTarget(
        name: "StorageManagementTests",
        dependencies: [
            "CLinux", "EffectiveValues", "PurgePlanning", "ResourceValues", "StorageManagement",
            "StoragePolicy", "SystemCalls", "TestSupport", "capacity-tool", "resval",
            systemPackage,
        ]),
    .executableTarget(
        name: "capacity-tool", dependencies: ["ResourceValuesFoundation"],
        path: "Tests/Helpers/capacity-tool"),
]

// What the fuzzer tries (scripts/fuzz), with inputs that are tried by each run of the tests.

package.targets += [
    .testTarget(
        name: "FuzzTests",
        dependencies: [
            "BackupEngines", "BackupSettings", "CommandSupport", "EffectiveValues", "Eviction",
            "JSONReading", "JSONWriting", "MarkTransfer", "PurgePlanning", "ResourceValues",
            "SettingsReading", "StoragePolicy", "SystemCalls", "TestSupport", systemPackage,
        ],
        path: "Tests/Fuzz", exclude: ["Corpora"])
]

// What resval-purge watch does.

package.targets += [
    .target(
        name: "PurgeWatching",
        dependencies: [
            "CLinux", "CommandSupport", "EffectiveValues", "PurgePlanning", "ResourceValues",
            "SettingsReading", "StorageManagement", "StoragePolicy", "SystemCalls", systemPackage,
        ]),
    .testTarget(
        name: "PurgeWatchingTests",
        dependencies: [
            "CLinux", "CommandSupport", "CTestSupport", "EffectiveValues", "PurgePlanning",
            "PurgeWatching", "ResourceValues", "SettingsReading", "StorageManagement",
            "StoragePolicy", "SystemCalls", "TestSupport", "resval", "resval-purge", systemPackage,
        ]),
]

let swiftSettings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
    .define("MOCKING", .when(configuration: .debug)),
]
let targetsInC = ["CArchive", "CLinux", "CNettle", "CTestSupport", "without-xattrat"]

for target in package.targets where !targetsInC.contains(target.name) {
    target.swiftSettings = target.swiftSettings ?? swiftSettings
}
