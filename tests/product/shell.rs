//! The small shell of the tests does what the system's does.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::support::example;

const INPUT: &str =
    "{\"method\":\"initialize\"}\n{\"id\":12,\"method\":\"ping\"}\n  blanks  \nno end";

/// Each with what the scripts of the tests use.
const SCRIPTS: [&str; 15] = [
    r#"while read -r line; do case "$line" in *'"initialize"'*) echo '{"a  b"}';; *ping\"*|*pong*) printf '%s\n' "${line##*\"id\":}";; *) echo "<$line>" >&2;; esac; done"#,
    r#"while read line; do n=$((n+1)); id=${line#*id\":}; echo "$n ${id%%,*} ${id%,*}"; done; exit $n"#,
    r#"ask() { echo "asked $1 of $#"; }; ask 'a b' && ask "$@" || echo never; echo "$0"; exit 3"#,
    r#"x=$(echo "$#  $1"; echo two); echo "$x"; echo $x end; y="$x"; echo "$y""#,
    r"if [ -e /dev/null ]; then echo is; elif true; then echo never; else echo isnt; fi; if false; then echo never; fi; echo $?",
    r#"for i in a 'b  c' "$1"; do echo "<$i>"; done; until [ "$n" = xxx ]; do n=x$n; done; echo $n"#,
    r#"false || { echo group; false; }; echo "status $?"; true && echo so; test -n "$1" && test -z '' && [ ! -e nothing ] && echo all"#,
    r"printf '\033]0;%s\007 %d%% %03d\n' title 5 7; printf '%s|' a 'b c' ''; echo",
    r"echo gone > /dev/null; echo kept > kept; echo more >> kept; cat kept; echo to errors >&2",
    r#"A=1 B='x y'; export C=3; echo "$A$B$C ${D:-none} ${A:-none}"; VALUE=given exec sh -c 'echo "$VALUE $0 $1"' zero one; echo never"#,
    "read -r first; echo \"$first\"; cat; # a comment\nexit 0",
    r#"printf '%s|' "$0" "$@"; echo; exit 260"#,
    r#"say() { for i in "$@"; do echo "$i"; done; x=inside; exit 5; }; x=out; say a 'b  c' | cat; echo "$? $x"; false | cat | sh -c 'cat; exit 4' && echo never; echo $?"#,
    r#"all() { shift; echo "$# $1"; shift 2; echo "$#"; }; all a b c; x=$(for i in 1 2 3; do echo $i; done | A=given sh -c 'cat; echo $A'); echo "$x""#,
    r#"x=0123456789; for i in 1 2 3 4; do x=$x$x$x$x$x$x$x$x$x$x; done; y=$(echo $x | cat | cat); [ "$x" = "$y" ] && echo same; echo gone | cat > /dev/null; echo a | sh -c 'cat; echo bad >&2' 2>/dev/null"#,
];

fn run(shell: &Path, script: &str) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new(shell)
        .args(["-c", script, "name", "one", "two  words", ""])
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A script that does not read has ended by then.
    child.stdin.take().unwrap().write_all(INPUT.as_bytes()).ok();
    child.wait_with_output().unwrap()
}

#[test]
fn scripts_do_the_same_in_both_shells() {
    for script in SCRIPTS {
        let (ours, theirs) = (
            run(&example("sh"), script),
            run(Path::new("/bin/sh"), script),
        );
        let told = |output: &Output| {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let status = output.status.code();
            (status, text(&output.stdout), text(&output.stderr))
        };
        assert_eq!(told(&ours), told(&theirs), "{script}");
    }
}

#[test]
fn what_it_does_not_know_is_refused() {
    for script in [
        "echo a | while read -r line; do echo b; done",
        "f() { cat; }; echo a | f",
        "echo a; echo b 2>&1",
        "exec <&-",
        "sleep 1 &",
        "trap 'exit 7' TERM",
        "echo $((2 * 3))",
        "echo ${x/y/z}",
        "if true; then",
        "echo 'open",
    ] {
        let done = run(&example("sh"), script);
        assert_eq!(done.status.code(), Some(2), "{script}: {done:?}");
        assert!(done.stdout.is_empty(), "{script}: {done:?}");
    }
}
