import Foundation
import TestSupport
import Testing

/// The commands of two pages, in their order, in one shell. Their directories are below a workspace.
@Suite("The commands of docs/OPERATIONS.md and docs/ARCHIVE.md")
struct OperationsTests {
    /// What a machine of tests cannot run as it stands, why, and the shell function that stands in for it.
    private struct StandIn {
        let command: String
        let reason: String
        let function: String
    }

    private static let standIns = [
        StandIn(command: "apt-get", reason: "needs root; `make package-test` installs the package", function: ":"),
        StandIn(
            command: "install", reason: "the user syncd is made by the package; giving files away needs root",
            function: #"command install -m 660 "${@: -2}""#),
        StandIn(
            command: "runuser", reason: "needs root, and the user syncd", function: #"shift 3; "$@""#),
        StandIn(
            command: "systemctl", reason: "needs systemd: the daemon is run with the unit's credential, and signalled",
            function: #"""
                if [ "$1" = enable ]; then
                    mkdir "$root/credentials" && cp "$root/etc/syncd/shop.token" "$root/credentials/token"
                    CREDENTIALS_DIRECTORY="$root/credentials" syncd run --config "$root/etc/syncd/shop.yaml" \
                        >"$root/out" 2>"$root/log" & daemon=$!
                    until grep -q Listening "$root/out" && grep -q peer.failed "$root/log"; do
                        kill -0 $daemon || exit 1
                        sleep 0.05
                    done
                else
                    kill -HUP $daemon
                    until grep -q config.applied "$root/log"; do
                        kill -0 $daemon || exit 1
                        sleep 0.05
                    done
                fi
                """#),
        StandIn(
            command: "journalctl", reason: "needs systemd: the lines are those that the daemon writes",
            function: #"cat "$root/log""#),
        StandIn(
            command: "jq", reason: "is not on each machine that runs tests",
            function: """
                python3 -c 'import json, sys
                for line in map(json.loads, sys.stdin):
                    if line["event"] == "peer.failed": print("peer", line["peer"])'
                """),
    ]

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The lines of the shell blocks of a page; what a backslash continues is one line.
    private func lines(_ page: String) throws -> [String] {
        let text = try String(contentsOf: Self.root.appending(path: page), encoding: .utf8)
        let blocks = text.matches(of: /(?s)```sh\n(.*?)```/).map { String($0.1) }
        return blocks.joined().replacing(/\\\n\s*/, with: "").split(separator: "\n").map(String.init)
    }

    /// Runs a script with `$root`, an empty directory, and a database `shop.sqlite` in the current one.
    private func run(_ script: String, in workspace: Workspace) async throws -> Outcome {
        let bin = URL(filePath: Tool.path).deletingLastPathComponent().path
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let beginning = """
            root=\(workspace.directory.path)
            trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
            trap 'echo "failed: $BASH_COMMAND" >&2' ERR
            cd "$root"
            sqlite3 shop.sqlite "CREATE TABLE product (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
                                 INSERT INTO product (name) VALUES ('tea'), ('coffee')"

            """
        return try await Tool.run([
            "/usr/bin/env", "PATH=\(bin):\(path)", "TMPDIR=\(workspace.directory.path)", "bash", "-eEu", "-o",
            "pipefail",
            "-c", beginning + script,
        ])
    }

    @Test("the commands of OPERATIONS.md work one after the other, and make an equal replica and a restored file")
    func operations() async throws {
        let lines = try lines("docs/OPERATIONS.md")
        #expect(lines.count > 20)
        let workspace = Workspace()
        let ports = try FreePorts(2)
        var script = "mkdir -p {.,new,replaced}/var/lib/syncd etc/syncd backups\n"
        for standIn in Self.standIns {
            #expect(lines.contains { $0.contains(standIn.command + " ") }, "\(standIn.command): \(standIn.reason)")
            script += "\(standIn.command)() {\n\(standIn.function)\n}\n"
        }
        for line in lines {
            let machine =
                line.hasSuffix("on the new machine") ? "/new" : line.hasSuffix("was replaced") ? "/replaced" : ""
            script +=
                line.replacing("/var/lib", with: "$root\(machine)/var/lib").replacing("/etc/", with: "$root/etc/")
                .replacing("/backups/", with: "$root/backups/").replacing("2026-11-21", with: "$(date +%F)")
                .replacing("https://first:7707", with: "http://127.0.0.1:\(ports[0])")
                .replacing("cert.pem", with: "oslo.pem") + "\n"
            // What the page tells the operator to edit: the peers, here one that does not run.
            if line.contains("name the peers") {
                script += """
                    sed -i "s,/var/lib,$root/var/lib,; s,^listen:.*,listen: 127.0.0.1:\(ports[0]),; s,^#log-format: text,log-format: json," \
                    $root/etc/syncd/shop.yaml
                    echo "peer: [http://127.0.0.1:\(ports[1])]" >> $root/etc/syncd/shop.yaml

                    """
            }
        }
        script += """
            openssl verify -CAfile clients.pem oslo.pem
            syncd verify $root/new/var/lib/syncd/shop.sqlite http://127.0.0.1:\(ports[0]) --token-file $root/etc/syncd/shop.token
            sqlite3 $root/replaced/var/lib/syncd/shop.sqlite "SELECT 'restored', count(*) FROM product"
            cut -d ' ' -f 1,2 $root/etc/syncd/shop.tokens
            """
        let outcome = try await run(script, in: workspace)
        #expect(outcome.status == 0, "\(outcome)")
        for expected in [
            "No mistakes.", "peer http://127.0.0.1:\(ports[1])", "oslo.pem: OK", "Equal: 2 rows in 1 table.",
            "restored|2",
            "anna admin", "berlin replicate", "archive pull", "sensor push", "grafana read",
        ] {
            #expect(outcome.lines.contains(expected), "\(expected) is missing: \(outcome)")
        }
    }

    @Test("the commands of ARCHIVE.md work one after the other, and bring the rows into clones and a restored file")
    func archive() async throws {
        let lines = try lines("docs/ARCHIVE.md")
        #expect(lines.count >= 11)
        let ports = try FreePorts(1)
        let hub = "http://127.0.0.1:\(ports[0])"
        var script = "syncd init shop.sqlite\n(umask 077; head -c 24 /dev/urandom | base64 > token)\n"
        for line in lines {
            let runs = ["syncd hub", "syncd run"].contains { line.hasPrefix($0) }
            // A second later than the snapshot, as the page gives whole seconds.
            script +=
                (runs ? line.replacing(/\s+#/, with: " & #") : line).replacing("/mnt/", with: "$root/mnt/")
                .replacing("2026-11-21T08:40:19Z", with: "$(date -u -d '1 second' +%FT%TZ)")
                .replacing("0.0.0.0:7707", with: hub.dropFirst(7)).replacing("http://hub:7707", with: hub)
                .replacing("syncd run shop.sqlite", with: "syncd run shop.sqlite --listen 127.0.0.1:0") + "\n"
            if runs { script += "curl -sS --retry 60 --retry-delay 1 --retry-all-errors --fail \(hub)/readyz\n" }
        }
        script += """
            for file in other then third; do
                sqlite3 $file.sqlite "SELECT '$file', group_concat(name) FROM product"
            done
            """
        let outcome = try await run(script, in: Workspace())
        #expect(outcome.status == 0, "\(outcome)")
        #expect(outcome.lines.suffix(3) == ["other|tea,coffee", "then|tea,coffee", "third|tea,coffee"], "\(outcome)")
    }
}
