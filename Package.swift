// swift-tools-version:6.2
import CompilerPluginSupport
import PackageDescription

let features: [SwiftSetting] = ["ExistentialAny", "MemberImportVisibility"].map { .enableUpcomingFeature($0) }

// scripts/check sets this. It is off otherwise, because a new warning of a new compiler must not break the
// build of a released version.
let isStrict = Context.environment["STRICT_WARNINGS"] != nil
let settings = features + (isStrict ? [.treatAllWarnings(as: .error)] : [])

let package = Package(
    name: "tandem",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "Store", targets: ["Store"]),
        .library(name: "Journal", targets: ["Journal"]),
        .library(name: "Sync", targets: ["Sync"]),
        .executable(name: "syncd", targets: ["syncd"]),
        .executable(name: "chinook-writer", targets: ["chinook-writer"]),
        .executable(name: "todo-service", targets: ["todo-service"]),
    ],
    dependencies: [
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/swiftlang/swift-syntax", from: "603.0.1"),
        .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    ],
    targets: [
        .target(
            name: "Journal",
            dependencies: [
                "CSQLiteShim", "CFileShim",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        .macro(
            name: "StoreMacros",
            dependencies: [
                .product(name: "SwiftSyntaxMacros", package: "swift-syntax"),
                .product(name: "SwiftSyntax", package: "swift-syntax"),
                .product(name: "SwiftParser", package: "swift-syntax"),
                .product(name: "SwiftSyntaxBuilder", package: "swift-syntax"),
                .product(name: "SwiftDiagnostics", package: "swift-syntax"),
                .product(name: "SwiftCompilerPlugin", package: "swift-syntax"),
            ]),
        .target(
            name: "Store",
            dependencies: [
                "Journal", "StoreMacros",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        .target(name: "CSQLiteShim"),
        .target(name: "CFileShim"),
        .target(name: "CCurl", linkerSettings: [.linkedLibrary("curl")]),
        .systemLibrary(
            name: "CCompression", providers: [.apt(["libzstd-dev", "zlib1g-dev"])]),
        // SHA-256, and the certificates of clients. libcurl loads libcrypto in any case.
        .systemLibrary(name: "COpenSSL", providers: [.apt(["libssl-dev"])]),
        .target(
            name: "Sync",
            dependencies: [
                "Journal", "CFileShim", "CCurl", "CCompression", "COpenSSL",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        // The program is an entry point of one line over a library, so that tests can import all of it.
        .executableTarget(name: "syncd", dependencies: ["SyncdCore"], path: "Sources/syncd/Main"),
        .target(
            name: "SyncdCore",
            dependencies: [
                "Sync", "Journal", "CFileShim", "COpenSSL",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "HummingbirdTLS", package: "hummingbird"),
                .product(name: "HummingbirdHTTP2", package: "hummingbird"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOTLS", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Yams", package: "Yams"),
            ],
            path: "Sources/syncd",
            exclude: ["Main"]),
        .target(name: "BenchSupport", path: "Benchmarks/Support"),
        // Apart from tandem-bench, which so needs no macro and no swift-syntax.
        .executableTarget(
            name: "store-bench",
            dependencies: [
                "Store", "Journal", "BenchSupport",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            path: "Benchmarks/StoreBench"),
        .executableTarget(
            name: "tandem-bench",
            dependencies: [
                "Sync", "Journal", "CCompression", "BenchSupport",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            path: "Benchmarks/Bench"),
        .executableTarget(
            name: "hub-followers", dependencies: ["Sync", "Journal"], path: "Benchmarks/HubFollowers"),
        .executableTarget(name: "chinook-writer", dependencies: ["Store"], path: "Examples/ChinookWriter"),
        .executableTarget(
            name: "todo-service",
            dependencies: [
                "Store",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            path: "Examples/TodoService",
            exclude: ["README.md"]),
        .target(
            name: "TestSupport",
            dependencies: [
                "Sync", "Journal", "CSQLiteShim", .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Tests/TestSupport"),
        // What merging must give, worked out naively, and random histories that compare it with the engine.
        .target(
            name: "MergeModel",
            dependencies: ["Sync", "Journal", "TestSupport", .product(name: "GRDB", package: "GRDB.swift")],
            path: "Tests/Harness/MergeModel"),
        .executableTarget(
            name: "merge-random", dependencies: ["MergeModel", "CSQLiteShim"], path: "Tests/Harness/MergeRandom"),
        // Lives of whole clusters in virtual time, from a seed.
        .target(
            name: "Simulator",
            dependencies: [
                "Sync", "Journal", "MergeModel", "SimulatedDisk", "TestSupport",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Tests/Harness/Simulator",
            exclude: ["Regressions"]),
        .executableTarget(
            name: "simulate", dependencies: ["Simulator", "TestSupport"], path: "Tests/Harness/Simulate"),
        .testTarget(name: "SimulatorTests", dependencies: ["simulate", "Simulator", "Journal", "TestSupport"]),
        // Disks in memory that lose power, crash and fail, for SQLite and for Tandem's own files.
        .target(name: "CSimDisk", path: "Tests/Harness/CSimDisk", linkerSettings: [.linkedLibrary("sqlite3")]),
        .target(name: "SimulatedDisk", dependencies: ["CSimDisk", "Journal"], path: "Tests/Harness/SimulatedDisk"),
        .target(
            name: "StorageCampaign",
            dependencies: [
                "SimulatedDisk", "Sync", "Journal", "TestSupport", .product(name: "GRDB", package: "GRDB.swift"),
            ],
            path: "Tests/Harness/StorageCampaign"),
        .executableTarget(name: "power-loss", dependencies: ["StorageCampaign"], path: "Tests/Harness/PowerLoss"),
        .testTarget(
            name: "StorageTests",
            dependencies: [
                "StorageCampaign", "SimulatedDisk", "Sync", "Journal", "TestSupport",
                .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        .testTarget(
            name: "JournalTests",
            dependencies: [
                "Journal", "TestSupport", .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ]),
        .testTarget(
            name: "StoreTests",
            dependencies: [
                "Store", "Sync", "Journal", "TestSupport", .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
            ],
            // Programs that tests hand to the compiler.
            exclude: ["Correct", "Examples", "Misuse"]),
        // For `make sanitize STRESS=1`: Store alone, so that a build for the sanitizer is small.
        .executableTarget(name: "store-stress", dependencies: ["Store"], path: "Tests/Harness/StoreStress"),
        .testTarget(
            name: "StoreArticleTests",
            dependencies: [
                "Store", "TestSupport", .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        .testTarget(
            name: "StoreMacrosTests",
            dependencies: [
                "StoreMacros",
                .product(name: "SwiftDiagnostics", package: "swift-syntax"),
                .product(name: "SwiftSyntaxBuilder", package: "swift-syntax"),
                .product(name: "SwiftSyntaxMacros", package: "swift-syntax"),
                .product(name: "SwiftSyntaxMacroExpansion", package: "swift-syntax"),
                .product(name: "SwiftSyntaxMacrosGenericTestSupport", package: "swift-syntax"),
            ]),
        // The functions that libFuzzer calls with random bytes. The tests call them with the inputs that it
        // found.
        .target(
            name: "FuzzTargets",
            dependencies: ["Sync", "Journal", .product(name: "GRDB", package: "GRDB.swift")],
            path: "Tests/Harness/Fuzz/Targets"),
        .testTarget(
            name: "SyncTests",
            dependencies: [
                "Sync", "Journal", "TestSupport", "MergeModel", "FuzzTargets",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
            ],
            exclude: ["Fixtures"]),
        .testTarget(
            name: "SyncdTests",
            dependencies: [
                "SyncdCore", "Sync", "Journal", "TestSupport", .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
            ],
            exclude: ["Fixtures"]),
        .testTarget(
            name: "TodoServiceTests",
            dependencies: [
                "TestSupport",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)

// `make fuzz`: libFuzzer brings the program's main, and follows the branches of the targets that are built
// for it.
if Context.environment["FUZZ"] != nil {
    package.targets.append(
        .executableTarget(
            name: "fuzz", dependencies: ["FuzzTargets"], path: "Tests/Harness/Fuzz/Program",
            swiftSettings: [.unsafeFlags(["-parse-as-library"])],
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer"])]))
    for target in package.targets where ["Journal", "Sync", "FuzzTargets", "fuzz"].contains(target.name) {
        target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-sanitize=fuzzer"])]
    }
}

// scripts/test sets this. When one test target depends on a macro, SwiftPM builds all tests for the
// compiler's host, and so compiles each library twice: for the tests and for the programs. Two separate
// builds avoid that.
switch Context.environment["TANDEM_TESTS"] {
case "macros": package.targets.removeAll { $0.type == .test && $0.name != "StoreMacrosTests" }
case "rest": package.targets.removeAll { $0.name == "StoreMacrosTests" }
default: break
}

for target in package.targets where [.regular, .executable, .test, .macro].contains(target.type) {
    target.swiftSettings = (target.swiftSettings ?? []) + settings
}
