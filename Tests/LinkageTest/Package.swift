// swift-tools-version: 6.2

import PackageDescription

// A package of its own: only here does a program link what a user of the library links.
let package = Package(
    name: "LinkageTest",
    dependencies: [
        .package(name: "ResourceValues", path: "../.."),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
    ],
    targets: [
        .executableTarget(
            name: "linkage",
            dependencies: [
                .product(name: "ResourceValues", package: "ResourceValues"),
                .product(name: "FileTree", package: "ResourceValues"),
                .product(name: "StoragePolicy", package: "ResourceValues"),
                .product(name: "SystemPackage", package: "swift-system"),
            ]),
        .executableTarget(name: "foundation-control"),
    ]
)
