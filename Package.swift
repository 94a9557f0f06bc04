// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
    .define("MOCKING", .when(configuration: .debug)),
]

let systemPackage = Target.Dependency.product(name: "SystemPackage", package: "swift-system")

let argumentParser = Target.Dependency.product(
    name: "ArgumentParser", package: "swift-argument-parser")

let package = Package(
    name: "ResourceValues",
    products: [
        .library(name: "ResourceValues", targets: ["ResourceValues"]),
        .library(name: "FileTree", targets: ["FileTree"]),
        .library(name: "StoragePolicy", targets: ["StoragePolicy"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
    ],
    targets: [
        .systemLibrary(
            name: "CLinux", pkgConfig: "libattr", providers: [.apt(["libattr1-dev"])]),
        .target(
            name: "SystemCalls", dependencies: ["CLinux", systemPackage], swiftSettings: settings),
        .target(
            name: "ResourceValues", dependencies: ["SystemCalls", systemPackage],
            swiftSettings: settings),
        .target(
            name: "FileTree", dependencies: ["SystemCalls", systemPackage],
            swiftSettings: settings),
        .target(
            name: "StoragePolicy", dependencies: ["ResourceValues", systemPackage],
            swiftSettings: settings),
        .target(
            name: "EffectiveValues",
            dependencies: ["ResourceValues", "StoragePolicy", "SystemCalls", systemPackage],
            swiftSettings: settings),
        .testTarget(
            name: "StoragePolicyTests",
            dependencies: ["ResourceValues", "StoragePolicy", systemPackage],
            swiftSettings: settings),
        .testTarget(
            name: "EffectiveValuesTests",
            dependencies: [
                "CLinux", "EffectiveValues", "ResourceValues", "StoragePolicy", "SystemCalls",
                systemPackage,
            ],
            swiftSettings: settings),
        .target(
            name: "BackupPlanning",
            dependencies: [
                "EffectiveValues", "FileTree", "ResourceValues", "StoragePolicy", systemPackage,
            ],
            swiftSettings: settings),
        .target(name: "CTestSupport", path: "Tests/CTestSupport"),
        .target(
            name: "TestSupport",
            dependencies: [
                "CLinux", "CTestSupport", "ResourceValues", "SystemCalls", systemPackage,
            ],
            path: "Tests/TestSupport", swiftSettings: settings),
        .testTarget(
            name: "TestSupportTests",
            dependencies: ["ResourceValues", "SystemCalls", "TestSupport", systemPackage],
            swiftSettings: settings),
        .testTarget(
            name: "SystemCallsTests",
            dependencies: ["CLinux", "SystemCalls", "TestSupport", systemPackage],
            swiftSettings: settings),
        .testTarget(
            name: "ResourceValuesTests",
            dependencies: [
                "ResourceValues", "SystemCalls", "TestSupport", "mark-tool", systemPackage,
            ],
            swiftSettings: settings),
        .testTarget(
            name: "FilesystemTests",
            dependencies: [
                "ResourceValues", "SystemCalls", "TestSupport", "mark-tool", systemPackage,
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "mark-tool", dependencies: ["ResourceValues", systemPackage],
            path: "Tests/Helpers/mark-tool", swiftSettings: settings),
        .executableTarget(
            name: "two-keys", dependencies: ["FileTree", "ResourceValues", systemPackage],
            path: "Tests/Benchmarks/two-keys", swiftSettings: settings),
        .executableTarget(name: "without-xattrat", path: "Tests/Helpers/without-xattrat"),
            name: "CommandSupport",
            dependencies: [argumentParser, "ResourceValues", "SystemCalls", systemPackage],
            swiftSettings: settings),
        .testTarget(
            name: "CommandSupportTests",
            dependencies: ["CommandSupport", "ResourceValues", argumentParser, systemPackage],
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
