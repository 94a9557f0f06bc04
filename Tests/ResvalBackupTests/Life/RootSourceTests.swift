import SystemPackage
import TestSupport
import Testing

/// Backups of `/`, in a small root of their own: the record's file is then inside the SOURCE.
@Suite("The root as SOURCE")
struct RootSourceTests {
    /// Makes a root with the programs and the libraries they need, and runs a script in it.
    private func inRoot(_ script: String) throws -> CommandResult {
        try require(.root, .tool("restic"), .tool("unshare"))
        return try withTemporaryDirectory { base in
            let make = """
                cd "$1" && mkdir -p tmp var/tmp proc bin home/me r dev root && chmod 1777 tmp
                for program in "$2" "$3" /bin/sh; do
                    for library in $(ldd "$program" | grep -o '/[^ ]*'); do
                        mkdir -p ".$(dirname "$library")" && cp -Ln "$library" ".$library"
                    done
                    cp "$program" bin/
                done
                echo text > home/me/file; echo junk > tmp/junk
                mount --bind . "$1" && cd "$1" && mount -t proc none proc
                touch dev/null && mount --bind /dev/null dev/null
                exec chroot . /bin/sh -c "$4"
                """
            let command = Command(
                "/usr/bin/unshare", "--mount", "--pid", "--fork", "/bin/sh", "-c", make, "sh", base,
                FilePath.built("resval-backup"), FilePath.tool("restic") ?? "",
                """
                export PATH=/bin HOME=/root RESTIC_PASSWORD=x RESTIC_CACHE_DIR=/r/repository/cache
                export RESVAL_BACKUP_REPOSITORY=/r/repository
                """ + "\n" + script)
            return try command.run()
        }
    }

    @Test("the record is stored among what is left out, and brought back with nothing")
    func root() throws {
        let result = try inRoot(
            """
            resval-backup init && resval-backup create / >/dev/null; echo $?
            resval-backup show latest --excluded
            resval-backup restore --snapshot latest --target /r/target >/dev/null; echo $?
            echo /r/target/tmp/* /r/target/home/me/* /r/target/root/.local/state/resval/*
            resval-backup create --no-locations / >/dev/null; echo $?
            resval-backup restore --snapshot latest --target /r/part /tmp >/dev/null; echo $?
            echo /r/part/tmp/* /tmp/*
            """)
        #expect(
            result.text == """
                0
                /proc: proc is mounted here: a kernel filesystem, without files of its own
                /r/repository: it is the repository of this backup
                /root/.local/state/resval/backup: its mark excludes it
                /tmp: it is a directory for temporary files
                /var/tmp: it is a directory for temporary files
                0
                /r/target/tmp/* /r/target/home/me/file /r/target/root/.local/state/resval/backup
                0
                0
                /r/part/tmp/junk /tmp/junk

                """, "\(result)")
    }
}
