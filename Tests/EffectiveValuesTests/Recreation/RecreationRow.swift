import SystemPackage
import TestSupport
import Testing

/// A tree with a directory that a tool made, or with one that only looks so.
struct RecreationRow: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// The directory, below the tree.
    let path: String
    /// The reason, for a directory that a tool made; nil for a decoy.
    let proof: String?
    let tree: Tree

    init(_ description: String, _ path: String, _ proof: String?, _ tree: Tree) {
        testDescription = description
        self.path = path
        self.proof = proof
        self.tree = tree
    }

    init(_ description: String, _ path: String, _ tree: Tree) {
        self.init(description, path, nil, tree)
    }
}

private func project(_ files: String..., directory: Directory) -> Tree {
    Tree {
        Directory("p") {
            for file in files { File(FileName(stringLiteral: file), "x") }
            directory
        }
    }
}

private let tag = File("CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n")

extension RecreationRow {
    /// Directories that a tool made.
    static let made: [RecreationRow] = [
        RecreationRow(
            "npm", "p/node_modules", "node_modules beside package.json",
            project("package.json", directory: Directory("node_modules") { Directory("left-pad") })),
        RecreationRow(
            "cargo", "p/target", "target beside Cargo.toml",
            project("Cargo.toml", directory: Directory("target") { Directory("debug") })),
        RecreationRow(
            "cargo with a target elsewhere", "p/target",
            "target with a CACHEDIR.TAG in it and with .rustc_info.json in it",
            project(
                directory: Directory("target") {
                    tag; File(".rustc_info.json")
                })),
        RecreationRow(
            "swift", "p/.build", ".build beside Package.swift",
            project("Package.swift", directory: Directory(".build") { Directory("checkouts") })),
        RecreationRow(
            "swift with clones in it", "p/.build", ".build beside Package.swift",
            project(
                "Package.swift",
                directory: Directory(".build") {
                    File("build.db")
                    Directory("checkouts") {
                        Directory("a") {
                            Directory(".git"); File("data.csv")
                        }
                    }
                })),
        RecreationRow(
            "python", "p/.venv", ".venv with pyvenv.cfg in it",
            project(
                directory: Directory(".venv") {
                    File("pyvenv.cfg"); Directory("bin"); Directory("lib")
                })
        ),
        RecreationRow(
            "compiled modules", "p/__pycache__",
            "__pycache__ with nothing but *.pyc, *.pyc.* in it",
            project("m.py", directory: Directory("__pycache__") { File("m.cpython-313.pyc") })),
        RecreationRow(
            "gradle", "p/build", "build beside build.gradle.kts and with libs in it",
            project("build.gradle.kts", directory: Directory("build") { Directory("libs") })),
        RecreationRow(
            "maven", "p/target", "target beside pom.xml",
            project("pom.xml", directory: Directory("target") { Directory("classes") })),
        RecreationRow(
            "cmake", "p/build", "build with CMakeCache.txt in it and with CMakeFiles in it",
            project(
                "CMakeLists.txt",
                directory: Directory("build") {
                    File("CMakeCache.txt"); Directory("CMakeFiles")
                })),
        RecreationRow(
            "composer", "p/vendor",
            "vendor beside composer.json and beside composer.lock and with autoload.php in it",
            project(
                "composer.json", "composer.lock",
                directory: Directory("vendor") { File("autoload.php") })),
        RecreationRow(
            "dotnet", "p/obj", "obj beside *.csproj and with Debug in it",
            project("app.csproj", directory: Directory("obj") { Directory("Debug") })),
        RecreationRow(
            "mix", "p/_build", "_build beside mix.exs",
            project("mix.exs", directory: Directory("_build") { Directory("dev") })),
        RecreationRow(
            "terraform", "p/.terraform", ".terraform beside *.tf",
            project("main.tf", directory: Directory(".terraform") { Directory("providers") })),
        RecreationRow(
            "cmake with fetched sources", "p/build-debug",
            "build-debug with CMakeCache.txt in it and with CMakeFiles in it and with src/CMakeFiles in it",
            project(
                "CMakeLists.txt",
                directory: Directory("build-debug") {
                    File("CMakeCache.txt"); Directory("CMakeFiles")
                    Directory("src") { Directory("CMakeFiles") }
                    Directory("_deps") { Directory("fmt-src") { Directory(".git") } }
                })),
        RecreationRow(
            "cmake in a directory of another name", "p/linux-gcc-Debug",
            "linux-gcc-Debug with CMakeCache.txt in it and with CMakeFiles in it",
            project(
                "CMakeLists.txt",
                directory: Directory("linux-gcc-Debug") {
                    File("CMakeCache.txt"); Directory("CMakeFiles")
                })),
        RecreationRow(
            "packages with a table among them", "p/node_modules",
            "node_modules beside package.json",
            project(
                "package.json",
                directory: Directory("node_modules") { Directory("geo") { File("cities.csv") } })),
        RecreationRow(
            "godot", "p/.godot", ".godot beside project.godot",
            project("project.godot", directory: Directory(".godot") { Directory("imported") })),
        RecreationRow(
            "unity", "p/Library", "Library beside Assets and beside ProjectSettings",
            Tree {
                Directory("p") {
                    Directory("Assets"); Directory("ProjectSettings")
                    Directory("Library") { File("ArtifactDB") }
                }
            }),
        RecreationRow(
            "unreal", "p/DerivedDataCache", "DerivedDataCache beside *.uproject",
            project("g.uproject", directory: Directory("DerivedDataCache") { File("VT") })),
        RecreationRow(
            "pixi", "p/.pixi", ".pixi beside pixi.toml and with envs in it",
            project("pixi.toml", directory: Directory(".pixi") { Directory("envs") })),
        RecreationRow(
            "kotlin", "p/.kotlin", ".kotlin beside build.gradle.kts",
            project("build.gradle.kts", directory: Directory(".kotlin") { Directory("sessions") })),
        RecreationRow(
            "android's native build", "p/.cxx", ".cxx beside build.gradle",
            project("build.gradle", directory: Directory(".cxx") { Directory("Debug") })),
        RecreationRow(
            "pnpm's store", "p/.pnpm-store", ".pnpm-store with v10 in it",
            project(directory: Directory(".pnpm-store") { Directory("v10") })),
        RecreationRow(
            "go", "home/go/pkg/mod", "~/go/pkg/mod with cache/download in it",
            Tree { Directory("home/go/pkg/mod/cache/download") }),
    ]

    /// Directories that only look so.
    static let decoys: [RecreationRow] = [
        RecreationRow(
            "packages with somebody's work tree among them", "p/vendor",
            project(
                "composer.json", "composer.lock",
                directory: Directory("vendor") {
                    File("autoload.php")
                    Directory("composer")
                    Directory("acme") { Directory("lib") { File(".git", "gitdir: elsewhere") } }
                })),
        RecreationRow(
            "packages with a work tree of Mercurial among them", "p/node_modules",
            project(
                "package.json",
                directory: Directory("node_modules") { Directory("own") { Directory(".hg") } })),
        RecreationRow(
            "a work tree that swift did not clone", "p/.build",
            project(
                "Package.swift",
                directory: Directory(".build") { Directory("a") { Directory(".git") } })),
        RecreationRow(
            "notes beside what swift built", "p/.build",
            project("Package.swift", directory: Directory(".build") { File("notes.md") })),
        RecreationRow(
            "a cmake build with sources in it", "p/build",
            project(
                "CMakeLists.txt",
                directory: Directory("build") {
                    File("CMakeCache.txt"); Directory("CMakeFiles")
                    Directory("src") { File("main.c") }
                })),
        RecreationRow(
            "papers among which cmake was once run", "p/thesis",
            project(
                "CMakeLists.txt",
                directory: Directory("thesis") {
                    File("CMakeCache.txt"); Directory("CMakeFiles"); File("thesis.tex")
                })),
        RecreationRow(
            "a cmake build with results in it", "p/build",
            project(
                "CMakeLists.txt",
                directory: Directory("build") {
                    File("CMakeCache.txt"); Directory("CMakeFiles")
                    Directory("run") { File("measured.csv") }
                })),
        RecreationRow(
            "a database beside a program", "p/bin",
            project(
                "app.csproj",
                directory: Directory("bin") { Directory("Debug") { File("app.db") } })),
        RecreationRow(
            "a table among derived data", "p/DerivedData",
            project(
                "Package.swift",
                directory: Directory("DerivedData") { Directory("Build") { File("out.csv") } })),
        RecreationRow(
            "packages that are work trees", "p/deps",
            project(
                "mix.exs", "mix.lock",
                directory: Directory("deps") { Directory("own") { Directory(".git") } })),
        RecreationRow(
            "terraform's state", "p/.terraform",
            project(
                "main.tf", directory: Directory(".terraform") { File("terraform.tfstate") })),
        RecreationRow(
            "a release of Android", "p/build",
            project(
                "build.gradle",
                directory: Directory("build") {
                    Directory("outputs") { Directory("mapping") { File("mapping.txt") } }
                })),
        RecreationRow(
            "a signed bundle of Android", "p/build",
            project(
                "build.gradle",
                directory: Directory("build") {
                    Directory("outputs") { Directory("signed") { File("app.aab") } }
                })),
        RecreationRow(
            "an installed program", "p/node_modules",
            project("package.json", "app.desktop", directory: Directory("node_modules") {})),
        RecreationRow(
            "an unpacked program that is none of Electron", "editor-linux-amd64/node_modules",
            Tree {
                File("editor-linux-amd64/package.json")
                Directory("editor-linux-amd64/node_modules")
            }),
        RecreationRow(
            "an editor that brings its packages", "p/node_modules",
            project(
                "package.json", "product.json", directory: Directory("node_modules") {})),
        RecreationRow(
            "what a program keeps for itself", ".local/share/app/node_modules",
            Tree {
                File(".local/share/app/package.json")
                Directory(".local/share/app/node_modules")
            }),
        RecreationRow(
            "an unpacked AppImage", "squashfs-root/app/node_modules",
            Tree {
                File("squashfs-root/app/package.json")
                Directory("squashfs-root/app/node_modules")
            }),
        RecreationRow(
            "a link as proof of a pattern", "p/DerivedData",
            Tree {
                SymbolicLink("p/a.xcodeproj", to: "/etc")
                Directory("p/DerivedData")
            }),
        RecreationRow(
            "global packages of npm", "lib/node_modules",
            Tree { Directory("lib") { Directory("node_modules") { Directory("npm") } } }),
        RecreationRow(
            "the packages of a global package", "lib/node_modules/npm/node_modules",
            Tree {
                File("lib/node_modules/npm/package.json")
                Directory("lib/node_modules/npm/node_modules")
            }),
        RecreationRow(
            "an extension of an editor", ".vscode/extensions/x/node_modules",
            Tree {
                File(".vscode/extensions/x/package.json")
                Directory(".vscode/extensions/x/node_modules")
            }),
        RecreationRow(
            "a program built with Electron", "App/resources/app/node_modules",
            Tree {
                File("App/resources/app/package.json")
                Directory("App/resources/app/node_modules")
            }),
        RecreationRow(
            "an unpacked program built with Electron", "App/node_modules",
            Tree {
                File("App/icudtl.dat")
                File("App/package.json")
                Directory("App/node_modules")
            }),
        RecreationRow(
            "a vendored tree", "p/vendor",
            project("go.mod", directory: Directory("vendor") { File("modules.txt") })),
        RecreationRow(
            "papers beside the files of composer", "p/vendor",
            project(
                "composer.json", "composer.lock",
                directory: Directory("vendor") { File("invoice.pdf") })),
        RecreationRow(
            "an environment with a thesis in it", "p/venv",
            project(
                directory: Directory("venv") {
                    File("pyvenv.cfg"); Directory("bin"); Directory("lib"); File("thesis.tex")
                })),
        RecreationRow(
            "sources named build", "p/build",
            project("Makefile", directory: Directory("build") { File("release.sh") })),
        RecreationRow(
            "sources named build beside a build file", "p/build",
            project("build.gradle", directory: Directory("build") { File("release.sh") })),
        RecreationRow(
            "a build in its sources", "p/build",
            project(
                directory: Directory("build") {
                    File("CMakeLists.txt"); File("CMakeCache.txt"); Directory("CMakeFiles")
                })),
        RecreationRow(
            "scripts named bin beside a project", "p/bin",
            project(
                "app.csproj",
                directory: Directory("bin") {
                    File("deploy"); Directory("Debug")
                })),
        RecreationRow(
            "releases named dist", "p/dist",
            project("package.json", directory: Directory("dist") { File("release-1.0.zip") })),
        RecreationRow(
            "a target of nobody knows what", "p/target",
            project(directory: Directory("target") { File("notes") })),
        RecreationRow(
            "a repository named target", "p/target",
            project("Cargo.toml", directory: Directory("target") { Directory(".git") })),
        RecreationRow(
            "a target below another version control system", "p/target",
            Tree {
                Directory("p/.hg")
                File("p/Cargo.toml")
                Directory("p/target")
            }),
        RecreationRow(
            "a target that is excluded from the rules", "p/target",
            Tree {
                File("p/Cargo.toml")
                Directory("p/target").excluded(false)
            }),
    ]
}
