// swift-tools-version: 6.2

import PackageDescription

// A package of its own, as a user of the library has one: only here does a program see nothing but what
// is public, and link nothing but what the products link. scripts/check-linkage runs the programs.
let package = Package(
    name: "LinkageTest",
    dependencies: [
        .package(name: "PhotoCache", path: "../../Examples/PhotoCache"),
        .package(name: "ResourceValues", path: "../.."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
    ],
    targets: [
        .executableTarget(
            name: "client",
            dependencies: [
                .product(name: "BackupPlanning", package: "ResourceValues"),
                .product(name: "EffectiveValues", package: "ResourceValues"),
                .product(name: "FileTree", package: "ResourceValues"),
                .product(name: "PurgePlanning", package: "ResourceValues"),
                .product(name: "ResourceValues", package: "ResourceValues"),
                .product(name: "StorageManagement", package: "ResourceValues"),
                .product(name: "StoragePolicy", package: "ResourceValues"),
                .product(name: "UsageReporting", package: "ResourceValues"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: [.enableUpcomingFeature("MemberImportVisibility")]),
        .executableTarget(
            name: "empty",
            dependencies: [
                .product(name: "ArgumentParser", package: "swift-argument-parser")
            ]),
        .executableTarget(
            name: "overlay",
            dependencies: [
                .product(name: "ResourceValuesFoundation", package: "ResourceValues")
            ]),
        .executableTarget(
            name: "drop-in",
            dependencies: [.product(name: "ResourceValuesDropIn", package: "ResourceValues")]),
        .executableTarget(
            name: "services",
            dependencies: [.product(name: "StorageServicesDropIn", package: "ResourceValues")]),
    ]
)
