import Hummingbird

/// The live view: one page without a framework. All content of the list is shown as text, never as HTML.
enum Page {
    static func reply(_ text: String, type: String) -> Response {
        Response(
            status: .ok,
            headers: [
                .contentType: "\(type); charset=utf-8", .cacheControl: "no-store", .xContentTypeOptions: "nosniff",
                .contentSecurityPolicy:
                    "default-src 'none'; connect-src 'self'; script-src 'self'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    static let html = """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>Todos</title>
        <link rel="stylesheet" href="todos.css">
        <script src="todos.js" defer></script>
        </head>
        <body>
        <main>
        <header><h1>Todos</h1><span id="state" role="status">connecting</span></header>
        <form id="new">
        <input id="title" aria-label="New todo" placeholder="What is to be done?" maxlength="500" required autofocus>
        <button>Add</button>
        </form>
        <p id="problem" role="alert" hidden></p>
        <ul id="todos"></ul>
        <p id="empty" hidden>Nothing to do. Add something here, or on another machine.</p>
        <section>
        <h2>Changes</h2>
        <ol id="changes"></ol>
        </section>
        </main>
        </body>
        </html>
        """

    static let css = """
        :root { color-scheme: light dark; --line: light-dark(#d8dce2, #3a4049); --soft: light-dark(#5d6673, #9aa4b2);
          --here: light-dark(#1b6ac9, #6db0ff); --remote: light-dark(#9a4d00, #ffb067); --card: light-dark(#fff, #1c2026); }
        * { box-sizing: border-box; }
        body { margin: 0; background: light-dark(#f4f5f7, #121519); font: 16px/1.5 system-ui, sans-serif; }
        main { max-width: 40rem; margin: 3rem auto; padding: 0 1rem; }
        header { display: flex; align-items: baseline; justify-content: space-between; }
        h1 { margin: 0 0 1rem; font-size: 1.75rem; }
        h2 { margin: 2.5rem 0 .5rem; font-size: 1rem; color: var(--soft); }
        #state { font-size: .875rem; color: var(--soft); }
        #state.live { color: light-dark(#17713a, #5fd38d); }
        form { display: flex; gap: .5rem; margin-bottom: 1rem; }
        input:not([type=checkbox]) { flex: 1; min-width: 0; padding: .6rem .75rem; border: 1px solid var(--line);
          border-radius: .4rem; background: var(--card); font: inherit; color: inherit; }
        button { padding: .6rem 1rem; border: 1px solid var(--line); border-radius: .4rem; background: var(--card);
          font: inherit; color: inherit; cursor: pointer; }
        ul, ol { margin: 0; padding: 0; list-style: none; }
        #todos { border: 1px solid var(--line); border-radius: .4rem; background: var(--card); }
        #todos:empty { display: none; }
        #todos li { display: flex; align-items: center; gap: .75rem; padding: .5rem .75rem; }
        #todos li + li { border-top: 1px solid var(--line); }
        #todos input[type=checkbox] { width: 1.1rem; height: 1.1rem; }
        #todos .title { flex: 1; min-width: 0; text-overflow: ellipsis; border: 0; padding: .25rem 0; background: none; }
        #todos .done .title { color: var(--soft); text-decoration: line-through; }
        #todos button { padding: .25rem .6rem; border-color: transparent; background: none; color: var(--soft); }
        #todos button:hover, #todos button:focus-visible { border-color: var(--line); color: inherit; }
        .flash-local { animation: local 1.5s ease-out; }
        .flash-remote { animation: remote 1.5s ease-out; }
        @keyframes local { from { box-shadow: inset 3px 0 var(--here); } }
        @keyframes remote { from { box-shadow: inset 3px 0 var(--remote); } }
        #changes { font-size: .875rem; color: var(--soft); }
        #changes b { font-weight: 600; color: var(--here); }
        #changes b.remote { color: var(--remote); }
        #problem { color: light-dark(#b3261e, #ff8a80); }
        """

    static let script = #"""
        "use strict";
        const byId = (id) => document.getElementById(id);
        const todos = new Map();
        const rows = new Map();
        const keptLines = 12;

        async function send(method, path, body) {
          let problem = "";
          try {
            const answer = await fetch(path, {
              method, body: body && JSON.stringify(body), headers: body && { "Content-Type": "application/json" },
            });
            if (!answer.ok) problem = (await answer.json()).error.message;
          } catch {
            problem = "the service does not answer";
          }
          byId("problem").textContent = problem;
          byId("problem").hidden = !problem;
          return !problem;
        }

        function makeRow(id) {
          const row = document.createElement("li");
          const tick = Object.assign(document.createElement("input"), { type: "checkbox", ariaLabel: "Done" });
          const title = Object.assign(document.createElement("input"), { className: "title", ariaLabel: "Title", maxLength: 500 });
          const remove = Object.assign(document.createElement("button"), { textContent: "Delete" });
          tick.onchange = () => send("PATCH", "todos/" + id, { done: tick.checked });
          title.onchange = async () => {
            if (!await send("PATCH", "todos/" + id, { title: title.value })) title.value = todos.get(id).title;
          };
          remove.onclick = () => send("DELETE", "todos/" + id);
          row.append(tick, title, remove);
          return { row, tick, title };
        }

        function show(todo) {
          todos.set(todo.id, todo);
          const { row, tick, title } = rows.get(todo.id) ?? makeRow(todo.id);
          rows.set(todo.id, { row, tick, title });
          tick.checked = todo.done;
          row.classList.toggle("done", todo.done);
          // A field that the user is editing keeps its text.
          if (document.activeElement !== title) title.value = todo.title;
          return row;
        }

        function arrange() {
          const order = [...todos.values()].sort((a, b) =>
            a.created < b.created ? -1 : a.created > b.created ? 1 : a.id < b.id ? -1 : 1);
          const list = byId("todos");
          order.forEach((todo, place) => {
            const { row } = rows.get(todo.id);
            if (list.children[place] !== row) list.insertBefore(row, list.children[place] ?? null);
          });
          byId("empty").hidden = order.length > 0;
        }

        function forget(id) {
          rows.get(id)?.row.remove();
          rows.delete(id);
          todos.delete(id);
        }

        function flash(row, name) {
          row.classList.remove("flash-local", "flash-remote");
          void row.offsetWidth;  // restarts the animation
          row.classList.add(name);
        }

        function note(origin, text) {
          const line = document.createElement("li");
          const who = document.createElement("b");
          who.textContent = origin === "local" ? "here" : "replica " + origin;
          who.classList.toggle("remote", origin !== "local");
          line.append(new Date().toLocaleTimeString(), " ", who, " ", text);
          byId("changes").prepend(line);
          while (byId("changes").children.length > keptLines) byId("changes").lastChild.remove();
        }

        byId("new").onsubmit = async (event) => {
          event.preventDefault();
          if (await send("POST", "todos", { title: byId("title").value })) byId("title").value = "";
        };

        const events = new EventSource("events");
        events.onopen = () => { byId("state").textContent = "live"; byId("state").className = "live"; };
        events.onerror = () => { byId("state").textContent = "connecting"; byId("state").className = ""; };
        events.addEventListener("list", (event) => {
          const all = JSON.parse(event.data);
          const ids = new Set(all.map((todo) => todo.id));
          for (const id of [...todos.keys()]) if (!ids.has(id)) forget(id);
          all.forEach(show);
          arrange();
        });
        events.addEventListener("change", (event) => {
          const change = JSON.parse(event.data);
          for (const id of change.deleted) {
            note(change.origin, `deleted "${todos.get(id)?.title ?? id}"`);
            forget(id);
          }
          for (const todo of change.todos) {
            note(change.origin, `${todos.has(todo.id) ? "changed" : "added"} "${todo.title}"`);
            flash(show(todo), change.origin === "local" ? "flash-local" : "flash-remote");
          }
          arrange();
        });
        """#
}
