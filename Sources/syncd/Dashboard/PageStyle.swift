/// The style sheet of the pages. It is served as a file, because their policy allows no styles within a page.
enum PageStyle {
    static let path = "/style.css"

    static let css = """
        :root { color-scheme: light dark; --back: #fbfbfa; --fore: #1d1f21; --soft: #5b6066; --line: #d7d9dc;
          --card: #fff; --link: #0b57a4; --good: #1a6b37; --bad: #a33409; --mark: #ffe9a8;
          font: 16px/1.5 system-ui, sans-serif; }
        @media (prefers-color-scheme: dark) { :root { --back: #16181a; --fore: #e6e7e8; --soft: #a6abb1;
          --line: #3a3e43; --card: #1e2124; --link: #8ab8f2; --good: #7fd49b; --bad: #ffab85; --mark: #5c4a10; } }
        * { box-sizing: border-box; }
        body { margin: 0; background: var(--back); color: var(--fore); }
        a { color: var(--link); }
        .skip { position: absolute; left: -100rem; } .skip:focus { left: 1rem; top: .5rem; }
        header, main, footer { max-width: 72rem; margin: 0 auto; padding: .8rem 1rem; }
        header { display: flex; flex-wrap: wrap; gap: .5rem 1.2rem; align-items: center;
          border-bottom: 1px solid var(--line); }
        nav ul { display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; list-style: none; margin: 0; padding: 0; }
        nav a[aria-current] { color: var(--fore); font-weight: 600; text-decoration: none; }
        header form { margin-left: auto; }
        h1 { font-size: 1.35rem; margin: 1rem 0 .4rem; } h2 { font-size: 1.1rem; margin: 1.8rem 0 .4rem; }
        .verdict { border-left: .35rem solid var(--good); background: var(--card); padding: .7rem 1rem; margin: 1rem 0; }
        .verdict.look { border-color: var(--bad); } .verdict ul { margin: .3rem 0 0; padding-left: 1.2rem; }
        .error { border-left: .35rem solid var(--bad); background: var(--card); padding: .7rem 1rem; }
        .figures { display: flex; flex-wrap: wrap; gap: .8rem; padding: 0; list-style: none; }
        .figures li { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .5rem .9rem; }
        .figures strong { display: block; font-size: 1.4rem; font-weight: 600; }
        table { border-collapse: collapse; width: 100%; background: var(--card); }
        caption { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
        th, td { text-align: left; vertical-align: top; padding: .35rem .7rem; border-bottom: 1px solid var(--line);
          overflow-wrap: anywhere; }
        th { color: var(--soft); font-weight: 600; font-size: .9rem; overflow-wrap: normal; }
        code, .value { font-family: ui-monospace, monospace; font-size: .92em; overflow-wrap: anywhere; }
        mark { background: var(--mark); color: inherit; padding: 0 .15rem; }
        .keep { white-space: nowrap; } .soft { color: var(--soft); } .good { color: var(--good); } .bad { color: var(--bad); }
        article { border: 1px solid var(--line); border-radius: .5rem; background: var(--card); padding: .7rem 1rem;
          margin: .9rem 0; }
        article h2 { margin: 0 0 .3rem; }
        button { font: inherit; padding: .35rem .9rem; border: 1px solid var(--soft); border-radius: .4rem;
          background: var(--back); color: var(--fore); cursor: pointer; }
        input[type=text], input[type=password], select { font: inherit; width: 100%; max-width: 30rem; padding: .4rem .6rem;
          border: 1px solid var(--soft); border-radius: .4rem; background: var(--card); color: var(--fore); }
        input[type=checkbox] { width: 1.2rem; height: 1.2rem; vertical-align: middle; }
        label { display: block; margin: .6rem 0 .2rem; } label.pick { display: inline; margin: 0; }
        .actions { display: flex; flex-wrap: wrap; gap: .6rem; margin: .7rem 0; align-items: center; }
        .charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); gap: .8rem; padding: 0;
          list-style: none; }
        .charts li { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .5rem .9rem; }
        figure { margin: 0; } figcaption { font-weight: 600; } .charts p { margin: .3rem 0 0; font-size: .88rem; }
        .chart { display: block; width: 100%; height: 2.5rem; border-bottom: 1px solid var(--line); }
        .chart path { fill: none; stroke: var(--link); stroke-width: 2; stroke-linejoin: round;
          vector-effect: non-scaling-stroke; }
        .topology { display: block; width: 100%; max-width: 44rem; }
        .topology text { fill: currentColor; font-size: 11px; } .topology text.left { text-anchor: end; }
        .topology circle { fill: var(--soft); } .topology circle.own { fill: var(--card); stroke: var(--soft); }
        .topology text.own { text-anchor: middle; }
        .link path { fill: none; stroke: var(--soft); } .link path.head { fill: var(--soft); stroke: none; }
        .failing { color: var(--bad); } .failing path { stroke: var(--bad); stroke-dasharray: 4 3; }
        .failing path.head, .topology .failing circle { fill: var(--bad); }
        :focus-visible { outline: .18rem solid var(--link); outline-offset: .12rem; }
        footer { color: var(--soft); font-size: .88rem; border-top: 1px solid var(--line); margin-top: 2rem;
          overflow-wrap: anywhere; }
        @media (max-width: 40rem) {
          table, tbody, tr, td { display: block; } thead { display: none; }
          tr { border-bottom: .2rem solid var(--line); padding: .3rem 0; } td { border: 0; padding: .15rem .7rem; }
          td[data-label]::before { content: attr(data-label) ": "; color: var(--soft); font-size: .88rem; }
        }
        """
}
