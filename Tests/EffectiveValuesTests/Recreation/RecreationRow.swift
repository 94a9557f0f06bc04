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

    private init(_ description: String, _ path: String, _ tree: Tree, proof: String? = nil) {
        testDescription = description
        self.path = path
        self.proof = proof
        self.tree = tree
    }

    /// Reads a line: what it is, the directory, the paths in the directory above it, and the proof. A path
    /// that ends in a slash is that of a directory.
    private init(_ line: Substring) {
        let fields = line.split(separator: " | ").map(String.init)
        let above = FilePath(fields[1]).removingLastComponent()
        let tree = Tree {
            for path in fields[2].split(separator: " ") {
                let name = FileName(stringLiteral: "\(above)/\(path)")
                if path.last == "/" {
                    Directory(FileName(Array(name.bytes.dropLast())))
                } else {
                    File(name, Self.contents[String(path.split(separator: "/").last ?? "")] ?? "")
                }
            }
        }
        self.init(fields[0], fields[1], tree, proof: fields.count > 3 ? fields[3] : nil)
    }

    private static func rows(_ table: String) -> [RecreationRow] {
        table.split(separator: "\n").map { RecreationRow($0) }
    }

    private static let contents = [
        "CACHEDIR.TAG": "Signature: 8a477f597d28d172789f06886806bc55\n",
        ".git": "gitdir: elsewhere",
    ]
}

extension RecreationRow {
    /// Directories that a tool made.
    static let made = rows(
        """
        npm | p/node_modules | package.json node_modules/left-pad/ | node_modules beside package.json
        cargo | p/target | Cargo.toml target/debug/ | target beside Cargo.toml
        cargo with a target elsewhere | p/target | target/CACHEDIR.TAG target/.rustc_info.json \
        | target with a CACHEDIR.TAG in it and with .rustc_info.json in it
        swift | p/.build | Package.swift .build/checkouts/ | .build beside Package.swift
        swift with clones in it | p/.build | Package.swift .build/build.db .build/checkouts/a/.git/ \
        .build/checkouts/a/data.csv | .build beside Package.swift
        python | p/.venv | .venv/pyvenv.cfg .venv/bin/ .venv/lib/ | .venv with pyvenv.cfg in it
        compiled modules | p/__pycache__ | m.py __pycache__/m.cpython-313.pyc \
        | __pycache__ with nothing but *.pyc, *.pyc.* in it
        gradle | p/build | build.gradle.kts build/libs/ \
        | build beside build.gradle.kts and with libs in it
        maven | p/target | pom.xml target/classes/ | target beside pom.xml
        cmake | p/build | CMakeLists.txt build/CMakeCache.txt build/CMakeFiles/ \
        | build with CMakeCache.txt in it and with CMakeFiles in it
        composer | p/vendor | composer.json composer.lock vendor/autoload.php \
        | vendor beside composer.json and beside composer.lock and with autoload.php in it
        dotnet | p/obj | app.csproj obj/Debug/ | obj beside *.csproj and with Debug in it
        mix | p/_build | mix.exs _build/dev/ | _build beside mix.exs
        terraform | p/.terraform | main.tf .terraform/providers/ | .terraform beside *.tf
        cmake with fetched sources | p/build-debug | CMakeLists.txt build-debug/CMakeCache.txt \
        build-debug/CMakeFiles/ build-debug/src/CMakeFiles/ build-debug/_deps/fmt-src/.git/ \
        | build-debug with CMakeCache.txt in it and with CMakeFiles in it \
        and with src/CMakeFiles in it
        cmake in a directory of another name | p/linux-gcc-Debug | CMakeLists.txt \
        linux-gcc-Debug/CMakeCache.txt linux-gcc-Debug/CMakeFiles/ \
        | linux-gcc-Debug with CMakeCache.txt in it and with CMakeFiles in it
        packages with a table among them | p/node_modules | package.json node_modules/geo/cities.csv \
        | node_modules beside package.json
        godot | p/.godot | project.godot .godot/imported/ | .godot beside project.godot
        unity | p/Library | Assets/ ProjectSettings/ Library/ArtifactDB \
        | Library beside Assets and beside ProjectSettings
        unreal | p/DerivedDataCache | g.uproject DerivedDataCache/VT \
        | DerivedDataCache beside *.uproject
        pixi | p/.pixi | pixi.toml .pixi/envs/ | .pixi beside pixi.toml and with envs in it
        kotlin | p/.kotlin | build.gradle.kts .kotlin/sessions/ | .kotlin beside build.gradle.kts
        android's native build | p/.cxx | build.gradle .cxx/Debug/ | .cxx beside build.gradle
        pnpm's store | p/.pnpm-store | .pnpm-store/v10/ | .pnpm-store with v10 in it
        go | home/go/pkg/mod | mod/cache/download/ | ~/go/pkg/mod with cache/download in it
        """)

    /// Directories that only look so.
    static let decoys =
        rows(
            """
            packages with somebody's work tree among them | p/vendor | composer.json composer.lock \
            vendor/autoload.php vendor/composer/ vendor/acme/lib/.git
            packages with a work tree of Mercurial among them | p/node_modules | package.json \
            node_modules/own/.hg/
            a work tree that swift did not clone | p/.build | Package.swift .build/a/.git/
            notes beside what swift built | p/.build | Package.swift .build/notes.md
            a cmake build with sources in it | p/build | CMakeLists.txt build/CMakeCache.txt \
            build/CMakeFiles/ build/src/main.c
            papers among which cmake was once run | p/thesis | CMakeLists.txt thesis/CMakeCache.txt \
            thesis/CMakeFiles/ thesis/thesis.tex
            a cmake build with results in it | p/build | CMakeLists.txt build/CMakeCache.txt \
            build/CMakeFiles/ build/run/measured.csv
            a database beside a program | p/bin | app.csproj bin/Debug/app.db
            a table among derived data | p/DerivedData | Package.swift DerivedData/Build/out.csv
            packages that are work trees | p/deps | mix.exs mix.lock deps/own/.git/
            terraform's state | p/.terraform | main.tf .terraform/terraform.tfstate
            a release of Android | p/build | build.gradle build/outputs/mapping/mapping.txt
            a signed bundle of Android | p/build | build.gradle build/outputs/signed/app.aab
            an installed program | p/node_modules | package.json app.desktop node_modules/
            an unpacked program that is none of Electron | editor-linux-amd64/node_modules \
            | package.json node_modules/
            an editor that brings its packages | p/node_modules | package.json product.json node_modules/
            what a program keeps for itself | .local/share/app/node_modules | package.json node_modules/
            an unpacked AppImage | squashfs-root/app/node_modules | package.json node_modules/
            global packages of npm | lib/node_modules | node_modules/npm/
            the packages of a global package | lib/node_modules/npm/node_modules \
            | package.json node_modules/
            an extension of an editor | .vscode/extensions/x/node_modules | package.json node_modules/
            a program built with Electron | App/resources/app/node_modules | package.json node_modules/
            an unpacked program built with Electron | App/node_modules | icudtl.dat package.json \
            node_modules/
            a vendored tree | p/vendor | go.mod vendor/modules.txt
            papers beside the files of composer | p/vendor | composer.json composer.lock \
            vendor/invoice.pdf
            an environment with a thesis in it | p/venv | venv/pyvenv.cfg venv/bin/ venv/lib/ \
            venv/thesis.tex
            sources named build | p/build | Makefile build/release.sh
            sources named build beside a build file | p/build | build.gradle build/release.sh
            a build in its sources | p/build | build/CMakeLists.txt build/CMakeCache.txt build/CMakeFiles/
            scripts named bin beside a project | p/bin | app.csproj bin/deploy bin/Debug/
            releases named dist | p/dist | package.json dist/release-1.0.zip
            a target of nobody knows what | p/target | target/notes
            a repository named target | p/target | Cargo.toml target/.git/
            a target below another version control system | p/target | .hg/ Cargo.toml target/
            """) + [
            RecreationRow(
                "a link as proof of a pattern", "p/DerivedData",
                Tree {
                    SymbolicLink("p/a.xcodeproj", to: "/etc")
                    Directory("p/DerivedData")
                }),
            RecreationRow(
                "a target that is excluded from the rules", "p/target",
                Tree {
                    File("p/Cargo.toml")
                    Directory("p/target").excluded(false)
                }),
        ]
}
