//! The served page: its files, which contain nothing of a recording, and its policy.

use tapewright_proxy::page::Asset;

use super::{files, modules};

/// JavaScript.
const SCRIPT: &str = "text/javascript; charset=utf-8";
/// The head of a served page.
const HEAD: &str = "<link rel=\"icon\" href=\"data:,\">\n<link rel=\"stylesheet\" href=\"/page.css\">\n<script type=\"module\" src=\"/boot.js\"></script>";

/// The files of the page.
pub(crate) fn assets() -> Vec<Asset> {
    let file = |path: &str, kind, text: &str| Asset {
        path: path.to_owned(),
        kind,
        text: text.to_owned(),
    };
    let modules = modules::MODULES.iter();
    let modules = modules.map(|name| file(&format!("/{name}.js"), SCRIPT, modules::text(name)));
    let mut all: Vec<Asset> = modules.collect();
    all.extend([
        file("/", "text/html; charset=utf-8", &html()),
        file(
            "/page.css",
            "text/css; charset=utf-8",
            files::text(super::STYLE),
        ),
        file("/live.js", SCRIPT, files::text("live.js")),
        file("/boot.js", SCRIPT, files::text("boot.js")),
    ]);
    all
}

fn html() -> String {
    files::text(super::PAGE)
        .replace("{{head}}", HEAD)
        .replace("{{tail}}", "")
}

/// The policy (<https://www.w3.org/TR/CSP3/>): our own files, requests to ourselves, and no text
/// that becomes markup or code.
pub(crate) fn live_policy() -> String {
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_served_makes_no_markup_and_asks_nobody_else() {
        for file in assets() {
            let others = ["EventSource", "document.cookie"];
            for way in modules::FORBIDDEN.into_iter().chain(others) {
                assert!(!file.text.contains(way), "{} has {way}", file.path);
            }
        }
    }

    #[test]
    fn nothing_stands_in_the_html_that_the_policy_forbids() {
        let html = html();
        assert!(!html.contains("<style") && !html.contains(" style=") && !html.contains(" on"));
        assert!(
            html.matches("<script").count()
                == html.matches("<script type=\"module\" src=\"/").count()
        );
    }
}
