// swift-tools-version: 6.2

import PackageDescription

let argumentParser = Target.Dependency.product(
    name: "ArgumentParser", package: "swift-argument-parser")
let subprocess = Target.Dependency.product(name: "Subprocess", package: "swift-subprocess")
let systemPackage = Target.Dependency.product(name: "SystemPackage", package: "swift-system")
let linuxOnly = TargetDependencyCondition.when(platforms: [.linux])

// scripts/allowed-imports lists what each target may import; the architecture page says why.
let package = Package(
    name: "ResourceValues",
    products: [
        .library(name: "ResourceValues", targets: ["ResourceValues"]),
        .library(name: "FileTree", targets: ["FileTree"]),
        .library(name: "StoragePolicy", targets: ["StoragePolicy"]),
        .library(name: "EffectiveValues", targets: ["EffectiveValues"]),
        .library(name: "BackupPlanning", targets: ["BackupPlanning"]),
        .library(name: "PurgePlanning", targets: ["PurgePlanning"]),
        .library(name: "StorageManagement", targets: ["StorageManagement"]),
        .library(name: "UsageReporting", targets: ["UsageReporting"]),
        .library(name: "ResourceValuesFoundation", targets: ["ResourceValuesFoundation"]),
        .library(name: "ResourceValuesDropIn", targets: ["ResourceValuesDropIn"]),
        .library(name: "StorageServicesDropIn", targets: ["StorageServicesDropIn"]),
        .executable(name: "resval", targets: ["resval"]),
        .executable(name: "resval-backup", targets: ["resval-backup"]),
        .executable(name: "resval-purge", targets: ["resval-purge"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
        .package(
            url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2", traits: []),
    ],
    targets: [
        // System libraries: CNettle and CZlib are modules of CLinux.
        .systemLibrary(
            name: "CLinux", pkgConfig: "libattr",
            providers: [.apt(["libattr1-dev", "nettle-dev", "zlib1g-dev"])]),

        // System calls and text formats.
        .target(name: "SystemCalls", dependencies: ["CLinux", systemPackage]),

        // Marks, trees, and effective values.
        .target(name: "ResourceValues", dependencies: ["SystemCalls", systemPackage]),
        .target(name: "FileTree", dependencies: ["SystemCalls", systemPackage]),
        .target(
            name: "StoragePolicy", dependencies: ["ResourceValues", "SystemCalls", systemPackage]),
        .target(
            name: "EffectiveValues",
            dependencies: [
                "ResourceValues", "StoragePolicy", "SystemCalls",
                systemPackage,
            ],
            resources: [.embedInCode("Recreation/rules.tsv")]),

        // Backups, eviction, purging, and storage space.
        .target(
            name: "BackupPlanning",
            dependencies: [
                "EffectiveValues", "FileTree", "ResourceValues", "StoragePolicy", "SystemCalls",
                systemPackage,
            ]),
        .target(
            name: "Backups",
            dependencies: [
                "BackupPlanning", "CLinux", "EffectiveValues", "FileTree", "ResourceValues",
                "StoragePolicy", "SystemCalls", subprocess, systemPackage,
            ]),
        .target(
            name: "PurgePlanning",
            dependencies: [
                "EffectiveValues", "FileTree", "ResourceValues",
                "StoragePolicy", "SystemCalls", systemPackage,
            ],
            resources: [.embedInCode("Rules/not-a-cache.tsv")]),
        .target(
            name: "StorageManagement",
            dependencies: [
                "EffectiveValues", "FileTree", "PurgePlanning", "ResourceValues",
                "StoragePolicy", "SystemCalls", systemPackage,
            ]),
        .target(
            name: "UsageReporting",
            dependencies: [
                "BackupPlanning", "EffectiveValues", "FileTree", "PurgePlanning", "ResourceValues",
                "StoragePolicy", "SystemCalls", systemPackage,
            ]),

        // Foundation's URL resource values, which Foundation itself provides on Apple's systems;
        // and Foundation's own signatures, for files that import nothing else.
        .target(
            name: "ResourceValuesFoundation",
            dependencies: [
                .target(name: "EffectiveValues", condition: linuxOnly),
                .target(name: "ResourceValues", condition: linuxOnly),
                .target(name: "StoragePolicy", condition: linuxOnly),
                .target(name: "SystemCalls", condition: linuxOnly),
                .product(name: "SystemPackage", package: "swift-system", condition: linuxOnly),
            ]),
        .target(name: "ResourceValuesDropIn", dependencies: ["ResourceValuesFoundation"]),
        .target(
            name: "StorageServicesDropIn",
            dependencies: [
                "ResourceValuesDropIn",
                .target(name: "BackupPlanning", condition: linuxOnly),
                .target(name: "EffectiveValues", condition: linuxOnly),
                .target(name: "ResourceValues", condition: linuxOnly),
                .target(name: "StorageManagement", condition: linuxOnly),
                .target(name: "StoragePolicy", condition: linuxOnly),
                .target(name: "SystemCalls", condition: linuxOnly),
                .target(name: "UsageReporting", condition: linuxOnly),
                .product(name: "SystemPackage", package: "swift-system", condition: linuxOnly),
            ]),

        // The commands.
        .target(
            name: "CommandSupport",
            dependencies: [
                argumentParser, "EffectiveValues", "ResourceValues", "StoragePolicy",
                "SystemCalls", systemPackage,
            ]),
        .executableTarget(
            name: "resval",
            dependencies: [
                argumentParser, "BackupPlanning", "CLinux", "CommandSupport", "EffectiveValues",
                "FileTree", "PurgePlanning", "ResourceValues", "StorageManagement",
                "StoragePolicy", "SystemCalls", "UsageReporting", systemPackage,
            ],
            resources: [
                "page.css", "page.html", "page.js", "patterns.js", "report.js", "squarify.js",
                "table.js", "treemap.js", "view.js",
            ].map { .embedInCode("Usage/Page/\($0)") }),
        .executableTarget(
            name: "resval-backup",
            dependencies: [
                argumentParser, "Backups", "BackupPlanning", "CommandSupport",
                "EffectiveValues", "FileTree", "ResourceValues",
                "StoragePolicy", "SystemCalls", systemPackage,
            ]),
        .executableTarget(
            name: "resval-purge",
            dependencies: [
                argumentParser, "CommandSupport", "EffectiveValues", "PurgePlanning",
                "ResourceValues", "StorageManagement", "StoragePolicy",
                "SystemCalls", systemPackage,
            ]),

        // Support for tests and benchmarks.
        .target(name: "CTestSupport", path: "Tests/CTestSupport"),
        .target(
            name: "TestSupport",
            dependencies: [
                "CLinux", "CTestSupport", "ResourceValues", "SystemCalls", systemPackage,
            ],
            path: "Tests/TestSupport"),
        .target(
            name: "CallFormsSwift5", dependencies: ["ResourceValuesFoundation"],
            path: "Tests/CallForms/Swift5",
            swiftSettings: [.swiftLanguageMode(.v5), .treatAllWarnings(as: .error)]),
        .target(
            name: "CallFormsSwift6", dependencies: ["ResourceValuesFoundation"],
            path: "Tests/CallForms/Swift6"),
        .executableTarget(
            name: "test-tool",
            dependencies: [
                "Backups", "EffectiveValues", "FileTree", "PurgePlanning", "ResourceValues",
                "SystemCalls", systemPackage,
            ],
            path: "Tests/Helpers/test-tool"),
        .executableTarget(
            name: "foundation-tool",
            dependencies: ["ResourceValuesDropIn", "ResourceValuesFoundation"],
            path: "Tests/Helpers/foundation-tool"),
        .executableTarget(
            name: "storage-guide", dependencies: ["ResourceValuesDropIn"],
            path: "Tests/Helpers/storage-guide"),
        // With samples as they were written, which do not use all that they make.
        .executableTarget(
            name: "services-tool", dependencies: ["StorageServicesDropIn"],
            path: "Tests/Helpers/services-tool",
            swiftSettings: [.unsafeFlags(["-suppress-warnings"])]),
        .executableTarget(name: "without-calls", path: "Tests/Helpers/without-calls"),
        .executableTarget(
            name: "two-keys",
            dependencies: ["FileTree", "ResourceValues", "SystemCalls", systemPackage],
            path: "Tests/Benchmarks/two-keys"),

        // Tests.
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
                "ResourceValues", "SystemCalls", "TestSupport", "test-tool", systemPackage,
            ]),
        .testTarget(
            name: "FilesystemTests",
            dependencies: [
                "ResourceValues", "SystemCalls", "TestSupport", "test-tool", systemPackage,
            ]),
        .testTarget(
            name: "StoragePolicyTests",
            dependencies: ["ResourceValues", "StoragePolicy", systemPackage]),
        .testTarget(
            name: "FileTreeTests",
            dependencies: [
                "FileTree", "SystemCalls", "TestSupport", "test-tool", "without-calls",
                systemPackage,
            ]),
        .testTarget(
            name: "BackupPlanningTests",
            dependencies: [
                "BackupPlanning", "CTestSupport", "EffectiveValues", "ResourceValues",
                "StoragePolicy",
                "SystemCalls", "TestSupport", systemPackage,
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
                "EffectiveValues", "ResourceValues", "StoragePolicy", "SystemCalls", "TestSupport",
                "resval", systemPackage,
            ]),
        .testTarget(
            name: "UsageReportingTests",
            dependencies: [
                "BackupPlanning", "EffectiveValues", "ResourceValues", "StoragePolicy",
                "SystemCalls", "TestSupport", "UsageReporting", systemPackage,
            ]),
        .testTarget(
            name: "BackupsTests",
            dependencies: [
                "Backups", "BackupPlanning", "CLinux", "EffectiveValues", "ResourceValues",
                "StoragePolicy", "SystemCalls", "TestSupport", "test-tool",
                systemPackage,
            ]),
        .testTarget(
            name: "ResvalBackupTests",
            dependencies: [
                "Backups", "CommandSupport", "ResourceValues",
                "StoragePolicy", "SystemCalls", "TestSupport", "foundation-tool", "resval",
                "resval-backup", "resval-purge", "services-tool", systemPackage,
            ]),
        .testTarget(
            name: "CommandSupportTests",
            dependencies: [
                argumentParser, "CommandSupport", "ResourceValues", "SystemCalls", systemPackage,
            ]),
        .testTarget(
            name: "ResourceValuesFoundationTests",
            dependencies: [
                "CallFormsSwift5", "CallFormsSwift6", "CLinux", "CTestSupport", "EffectiveValues",
                "resval-backup", "ResourceValues", "ResourceValuesFoundation",
                "SystemCalls", "TestSupport", systemPackage,
            ]),
        .testTarget(
            name: "ResourceValuesDropInTests",
            dependencies: [
                "ResourceValues", "ResourceValuesDropIn", "SystemCalls", "TestSupport",
                "foundation-tool", "storage-guide", systemPackage,
            ]),
        .testTarget(
            name: "StorageServicesDropInTests",
            dependencies: [
                "BackupPlanning", "EffectiveValues", "ResourceValuesDropIn",
                "StorageServicesDropIn", "StoragePolicy", "SystemCalls", "TestSupport",
                "UsageReporting", "services-tool", systemPackage,
            ]),
        .testTarget(
            name: "PurgeExecutingTests",
            dependencies: [
                "EffectiveValues", "PurgePlanning", "ResourceValues", "StoragePolicy",
                "SystemCalls",
                "TestSupport", "test-tool", systemPackage,
            ]),
        .testTarget(
            name: "PurgePlanningTests",
            dependencies: [
                "EffectiveValues", "PurgePlanning", "ResourceValues", "StoragePolicy",
                "SystemCalls",
                "TestSupport", systemPackage,
            ]),
        .testTarget(
            name: "ResvalPurgeTests",
            dependencies: [
                "CLinux", "CommandSupport", "CTestSupport", "EffectiveValues", "PurgePlanning",
                "ResourceValues", "StorageManagement", "StoragePolicy",
                "SystemCalls", "TestSupport", "resval", "resval-purge", systemPackage,
            ]),
        .testTarget(
            name: "StorageManagementTests",
            dependencies: [
                "CLinux", "EffectiveValues", "PurgePlanning", "ResourceValues", "StorageManagement",
                "StoragePolicy", "SystemCalls", "TestSupport", "foundation-tool", "resval",
                systemPackage,
            ]),
        .testTarget(
            name: "FuzzTests",
            dependencies: [
                "Backups", "CommandSupport", "EffectiveValues", "PurgePlanning",
                "ResourceValues", "StoragePolicy", "SystemCalls", "TestSupport",
                "resval", "resval-backup", systemPackage,
            ],
            path: "Tests/Fuzz", exclude: ["Corpora"]),
    ],
    swiftLanguageModes: [.v6]
)

let swiftSettings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
    .define("MOCKING", .when(configuration: .debug)),
]
let targetsInC = ["CLinux", "CTestSupport", "without-calls"]

for target in package.targets where !targetsInC.contains(target.name) {
    target.swiftSettings = target.swiftSettings ?? swiftSettings
}
