// swift-tools-version: 6.2

import PackageDescription

// A program as another package has it. scripts/check-linkage builds and runs it.
let package = Package(
    name: "PhotoCache",
    products: [.executable(name: "photo-cache", targets: ["photo-cache"])],
    dependencies: [
        .package(name: "ResourceValues", path: "../.."),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
    ],
    targets: [
        .executableTarget(
            name: "photo-cache",
            dependencies: [
                .product(name: "ResourceValuesDropIn", package: "ResourceValues"),
                .product(name: "StorageManagement", package: "ResourceValues"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: [.enableUpcomingFeature("MemberImportVisibility")])
    ]
)
