import Glibc
import SystemPackage
import TestSupport
import Testing

/// A server of repositories on the loopback, as a program that other machines reach does the work.
enum RepositoryServer: CaseIterable {
    /// restic's REST protocol, spoken by rclone.
    case rest
    /// S3, spoken by moto, which keeps everything in memory.
    case s3
    /// SFTP, spoken by OpenSSH's server, as a process of the user who runs the tests.
    case sftp

    /// Skips the test where the server cannot be run.
    func requireProgram() throws {
        switch self {
        case .rest: try require(.tool("rclone"))
        case .s3: try require(.tool("moto_server"), .tool("python3"), .tool("rclone"))
        case .sftp: try require(.tool("sshd"), .tool("ssh"), .tool("python3"))
        }
        // There sshd gets files of its own in a mount namespace.
        if self == .sftp, Self.isRoot { try require(.filesystem(.tmpfs), .tool("unshare")) }
    }

    /// The beginning of a shell script that runs in the fixture's directory: starts the server, sets
    /// `$server` to its process and `$port` to where it listens, and defines functions.
    ///
    /// `use PORT` makes the server the repository of `$RESVAL`, reached at a port. `cheapen` makes the key of
    /// a new repository one that takes no time to check, as that of ``emptyRepository()``. `relay HOW UP DOWN` starts
    /// a process `$relay` that passes on what comes to `$relay_port` until so many bytes went to the server or
    /// came from it; then it does what ``relayProgram`` says.
    var script: String {
        """
        set -u
        until_true() {
            for _ in $(seq 200); do
                if "$@"; then return; fi
                sleep 0.05
            done
            echo "never: $*" >&2
            exit 99
        }
        server= relay=
        trap 'kill -KILL $server $relay 2>/dev/null' EXIT
        cat > relay.py <<'END'
        \(Self.relayProgram)
        END
        relay() {
            : > relay-port
            python3 relay.py "$port" "$@" > relay-port &
            relay=$!
            until_true test -s relay-port
            read -r relay_port < relay-port
        }
        cheapen_key() {
            /usr/bin/python3 "\(packageRoot)/Tests/Helpers/cheapen-key/cheapen-key.py" "$1" password
        }
        # A server that is being started may not have opened it yet.
        : > server.log
        # Sets $port to the port in a log line of the server that was started.
        find_port() {
            port=$(sed -n 's|.*http://127.0.0.1:\\([0-9]*\\).*|\\1|p' server.log | head -n 1)
            [ -n "$port" ]
        }

        """ + beginning
    }

    private var beginning: String {
        switch self {
        case .rest:
            """
            mkdir served
            rclone serve restic --addr 127.0.0.1:0 served > server.log 2>&1 &
            server=$!
            until_true find_port
            use() { export RESVAL_BACKUP_REPOSITORY="rest:http://127.0.0.1:$1/"; }
            cheapen() { cheapen_key served; }

            """
        case .s3:
            """
            "\(Self.program("moto_server"))" -H 127.0.0.1 -p 0 > server.log 2>&1 &
            server=$!
            until_true find_port
            export AWS_ACCESS_KEY_ID=tester AWS_SECRET_ACCESS_KEY=secret
            export RCLONE_S3_ENDPOINT="http://127.0.0.1:$port" RCLONE_S3_PROVIDER=Other
            export RCLONE_S3_ENV_AUTH=true RCLONE_CONFIG=/dev/null
            # Of a bucket that does not exist restic asks for a quarter of an hour.
            rclone -q mkdir :s3:bucket
            use() { export RESVAL_BACKUP_REPOSITORY="s3:http://127.0.0.1:$1/bucket/repository"; }
            cheapen() {
                rclone -q copy :s3:bucket/repository/keys copied/keys
                cheapen_key copied
                rclone -q sync copied/keys :s3:bucket/repository/keys
            }

            """
        case .sftp:
            """
            for key in host user; do ssh-keygen -q -t ed25519 -N '' -f $key; done
            echo "server $(cat host.pub)" > known-hosts
            cat > sshd-settings <<END
            HostKey $PWD/host
            AuthorizedKeysFile $PWD/user.pub
            PidFile none
            StrictModes no
            UsePAM no
            PasswordAuthentication no
            KbdInteractiveAuthentication no
            Subsystem sftp internal-sftp
            END
            cat > ssh-settings <<END
            HostKeyAlias server
            UserKnownHostsFile $PWD/known-hosts
            GlobalKnownHostsFile /dev/null
            StrictHostKeyChecking yes
            IdentityFile $PWD/user
            IdentitiesOnly yes
            BatchMode yes
            END
            mkdir programs
            printf '#!/bin/sh\\nexec "%s" -F "%s/ssh-settings" "$@"\\n' "$(command -v ssh)" "$PWD" \\
                > programs/ssh
            chmod +x programs/ssh
            PATH=$PWD/programs:$PATH
            sshd="\(Self.program("sshd"))"
            listen() {
                port=$(shuf -i 20000-30000 -n 1)
                \(Self.isRoot ? Self.privateFiles : "") "$sshd" -D -e -f "$PWD/sshd-settings" \\
                    -o "ListenAddress=127.0.0.1:$port" 2> server.log &
                server=$!
                # The port may be another's.
                until_true grep -q 'Server listening\\|Cannot bind\\|rror' server.log
                grep -q '^Server listening' server.log
            }
            until_true listen
            use() { export RESVAL_BACKUP_REPOSITORY="sftp://127.0.0.1:$1/$PWD/served"; }
            cheapen() { cheapen_key served; }

            """
        }
    }

    /// What starts sshd for root: it demands a user of its own and a directory in `/run`, and refuses root
    /// where root has no password.
    private static let privateFiles = """
        unshare --mount --propagation private sh -c '
            { grep -v ^sshd: /etc/passwd; echo sshd:x:64999:65534::/run/sshd:/bin/false; } > passwd
            sed "s/:.*/:*:::::::/" passwd > shadow
            mount -t tmpfs tmpfs /run && mkdir -m 755 /run/sshd &&
                mount --bind passwd /etc/passwd && mount --bind shadow /etc/shadow && exec "$@"' sh
        """

    /// What happens at the limit is `HOW`: `cut` ends all connections and accepts no others; `stall` falls
    /// silent.
    private static let relayProgram = """
        import os, signal, socket, sys, threading

        target, how = int(sys.argv[1]), sys.argv[2]
        left = [int(sys.argv[3]), int(sys.argv[4])]
        lock = threading.Lock()
        listener = socket.create_server(("127.0.0.1", 0))
        print(listener.getsockname()[1], flush=True)
        ends = []

        def end(sockets):
            for one in sockets:
                try:
                    one.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

        def carry(source, sink, way):
            try:
                while data := source.recv(1 << 16):
                    with lock:
                        left[way] -= len(data)
                        if left[way] < 0:
                            if how == "stall":
                                os.kill(os.getpid(), signal.SIGSTOP)
                            left[:] = [1 << 60, 1 << 60]
                            return end([listener] + ends)
                    sink.sendall(data)
            except OSError:
                pass
            end([source, sink])

        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                break
            server = socket.create_connection(("127.0.0.1", target))
            ends += [client, server]
            for way, pair in enumerate([(client, server), (server, client)]):
                threading.Thread(target=carry, args=(*pair, way), daemon=True).start()
        """

    private static let isRoot = geteuid() == 0

    private static func program(_ name: String) -> String { FilePath.tool(name)?.string ?? name }
}
