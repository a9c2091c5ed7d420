import ArgumentParser
import Hummingbird
import HummingbirdTLS
import HummingbirdHTTP2
import Sync
@main struct Syncd: ParsableCommand { func run() throws { print(1) } }
