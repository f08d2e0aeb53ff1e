//! `DuckDB` reads the files of rows.

use std::process::Command;

use crate::support::{Fleet, Recorder};

#[test]
fn duckdb_reads_the_files_with_rows() {
    let python = std::env::var("TAPEWRIGHT_DUCKDB").expect("a python with duckdb");
    let fleet = Fleet::new();
    let mut recorder = Recorder::begin(fleet.tapes.path(), "files");
    recorder.calls(40);
    recorder.end();
    fleet.ship_all(&["--segment-bytes", "2KiB"]);
    let listed = fleet.run(&["ls", "--files", "exchanges"]).stdout;
    let listed = String::from_utf8(listed).unwrap();
    let asked = "import duckdb, sys; print(duckdb.sql(f'select tool, outcome, count(*), min(server_version) from \
                 read_parquet({sys.argv[1:]}) group by all order by tool').fetchall())";
    let mut command = Command::new(python);
    let told = String::from_utf8(
        command
            .args(["-c", asked])
            .args(listed.lines())
            .output()
            .unwrap()
            .stdout,
    )
    .unwrap();
    let wanted = "[('t0', 'answered', 10, None), ('t1', 'answered', 10, None), ('t2', 'answered', 10, None), ('t3', 'answered', 10, None)]\n";
    assert_eq!(told, wanted);
}
