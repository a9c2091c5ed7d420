/// The script of the pages: it shows the live parts as they come. Everything works without it.
enum LiveScript {
    static let path = "/live.js"
    static let eventsPath = "/events"

    static let source = """
        "use strict";
        (() => {
          const state = document.getElementById("live-state");
          const shape = document.getElementById("content").dataset.shape;
          let source = null;
          let silence = 0;
          const say = (text) => { if (state.textContent !== text) state.textContent = text; };
          const close = () => { if (source) source.close(); source = null; };
          const reload = () => { close(); location.reload(); };
          const show = (event) => {
            const news = JSON.parse(event.data);
            if (shape !== undefined && news.shape !== shape) return reload();
            for (const [id, html] of Object.entries(news.parts)) {
              const part = document.getElementById(id);
              if (!part) continue;
              const before = part.textContent;
              part.innerHTML = html;
              const link = document.getElementById(part.dataset.news || "");
              if (link && part.textContent !== before) link.hidden = false;
            }
          };
          const open = () => {
            if (source || document.hidden) return;
            source = new EventSource("\(eventsPath)");
            source.addEventListener("change", show);
            source.addEventListener("end", reload);
            source.onopen = () => { clearTimeout(silence); silence = 0; say("Live"); };
            source.onerror = () => {
              const time = new Date().toLocaleTimeString();
              silence = silence || setTimeout(() => say("No connection since " + time + ". What is shown is from then."), 4000);
              if (source && source.readyState === EventSource.CLOSED) { close(); setTimeout(open, 10000); }
            };
          };
          // A page that nobody sees needs no connection; browsers have few for each site.
          document.addEventListener("visibilitychange", () => document.hidden ? close() : open());
          addEventListener("pagehide", close);
          addEventListener("pageshow", open);
          open();
        })();
        """
}
