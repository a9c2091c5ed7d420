/// The page that asks for a token.
enum LoginPage {
    static let path = "/login"

    /// - Parameter error: What is wrong with the token that was given; nil when none was given.
    static func page(error: String? = nil) -> Page {
        let note: HTML? = error.map { "<div class=\"error\" role=\"alert\"><p>\($0).</p></div>" }
        return Page(
            title: "Sign in", path: path, frame: .stranger,
            content: """
                \(note)
                <form method="post" action="\(path)">
                <label for="token">Token</label>
                <input type="password" id="token" name="token" autocomplete="current-password" required autofocus>
                <p class="soft">A token of the scope read shows this replica; one of the scope admin also restores and \
                dismisses conflicts. <code>syncd token</code> makes them.</p>
                <div class="actions"><button>Sign in</button></div>
                </form>
                """)
    }
}
