//! Reports that others made: what nextpnr and yosys write, and what fud2 makes of Vivado's.
//!
//! Owns which file is which, and how area and clock are put together from them. They say nothing of the parts of a program.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::area::{Area, Figures};
use crate::error::Error;
use crate::flow::count_cells;
use crate::synthesis::{Clock, Synthesis};
use crate::timing::Report;

/// A file that somebody else's tools wrote.
#[derive(Debug, Clone)]
pub struct ReportFile {
    /// What messages call it.
    pub name: String,
    /// What is in it.
    pub text: String,
}

/// What fud2 takes from Vivado's reports (`synth-verilog-to-util-json`).
#[derive(Debug, Deserialize)]
struct Vivado {
    #[serde(rename = "impl")]
    placed: Placed,
    /// Whether the constraint is met.
    meet_timing: u8,
    /// In nanoseconds, of the constraint.
    period: f64,
    /// In nanoseconds; less than zero where the constraint is not met.
    worst_slack: f64,
}

/// Older scripts have the counts without the tables.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Placed {
    WithTables { summary: Counts },
    Plain(Counts),
}

/// Counts; -1 where the device has none of them.
#[derive(Debug, Deserialize)]
struct Counts {
    lut: f64,
    dsp: f64,
    brams: f64,
    registers: f64,
    carry8: f64,
    f7_muxes: f64,
    f8_muxes: f64,
    f9_muxes: f64,
}

impl Counts {
    fn figures(&self) -> Figures {
        let muxes = [self.f7_muxes, self.f8_muxes, self.f9_muxes];
        Figures {
            luts: self.lut.max(0.0),
            ffs: self.registers.max(0.0),
            // A tile is two blocks of 18 Kb, which one may use alone.
            brams: 2.0 * self.brams.max(0.0),
            dsps: self.dsp.max(0.0),
            carries: self.carry8.max(0.0),
            others: muxes.into_iter().map(|count| count.max(0.0)).sum(),
        }
    }
}

impl Vivado {
    /// The period that the design was shown to run with: that of the constraint, or what it lacks more.
    fn period(&self) -> f64 {
        if self.meet_timing == 1 {
            self.period
        } else {
            self.period - self.worst_slack
        }
    }
}

impl Synthesis {
    /// Puts together what files say of a design with this fingerprint and top module.
    ///
    /// # Errors
    /// When one is none of those that petal reads, or they do not tell both area and clock of one device.
    pub fn of_reports(fingerprint: &str, top: &str, files: &[ReportFile]) -> Result<Self, Error> {
        let mut area: Option<(Figures, BTreeMap<String, u64>, &str)> = None;
        let mut clocks: Vec<f64> = Vec::new();
        let mut tools: Vec<String> = Vec::new();
        for file in files {
            let problem = |reason: &str| Error::Report {
                name: file.name.clone(),
                reason: reason.to_owned(),
            };
            let json: Value = serde_json::from_str(&file.text)
                .map_err(|error| problem(&format!("it is no JSON: {error}")))?;
            let mut found = None;
            let tool = if json.get("meet_timing").is_some() {
                let vivado: Vivado =
                    serde_json::from_value(json).map_err(|error| problem(&error.to_string()))?;
                let counts = match &vivado.placed {
                    Placed::WithTables { summary } | Placed::Plain(summary) => summary.figures(),
                };
                found = Some((counts, BTreeMap::new(), "Vivado"));
                clocks.push(1000.0 / vivado.period());
                "Vivado"
            } else if json.get("fmax").is_some() {
                clocks.push(Report::parse(&file.text)?.fmax());
                "nextpnr"
            } else if json.get("modules").is_some() {
                let cells = count_cells(&file.text, top)?;
                let device = device(&cells).ok_or_else(|| {
                    problem("it counts cells of a device that petal does not know")
                })?;
                found = Some((Figures::counted(&cells), cells, device));
                "yosys"
            } else {
                return Err(problem(
                    "it is neither a report of nextpnr (`--report`), nor what `stat -json` of yosys writes, nor what \
                     `synth-verilog-to-util-json` of fud2 does",
                ));
            };
            if found.is_some() && area.is_some() {
                return Err(problem("another file tells the area already"));
            }
            area = found.or(area);
            tools.push(format!("{tool}: {}", file.name));
        }
        let lacking = |what: &str| Error::Report {
            name: files
                .iter()
                .map(|file| &*file.name)
                .collect::<Vec<_>>()
                .join(", "),
            reason: format!("nothing tells the {what}: `--read` that report, too"),
        };
        let Some((total, cells, device)) = area else {
            return Err(lacking("area"));
        };
        clocks.retain(|clock| clock.is_finite() && *clock > 0.0);
        clocks.sort_by(f64::total_cmp);
        let Some(&middle) = clocks.get(clocks.len().saturating_sub(1) / 2) else {
            return Err(lacking("clock"));
        };
        Ok(Self {
            fingerprint: fingerprint.to_owned(),
            target: "reports".to_owned(),
            device: format!("{device}, by reports"),
            tools,
            cells,
            clock: Some(Clock {
                fmax_mhz: middle,
                seeds: (1..).zip(clocks).collect(),
            }),
            area: Area {
                total,
                rows: Vec::new(),
            },
            ..Self::empty()
        })
    }
}

/// The family of devices that has these cells.
fn device(cells: &BTreeMap<String, u64>) -> Option<&'static str> {
    let has = |begin: &str| cells.keys().any(|kind| kind.starts_with(begin));
    match (has("SB_"), has("TRELLIS_") || has("LUT4")) {
        (true, false) => Some("iCE40"),
        (false, true) => Some("ECP5"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> ReportFile {
        ReportFile {
            name: "r.json".to_owned(),
            text: text.to_owned(),
        }
    }

    fn read(texts: &[&str]) -> Result<Synthesis, String> {
        let files: Vec<ReportFile> = texts.iter().map(|text| file(text)).collect();
        Synthesis::of_reports("f", "main", &files).map_err(|error| error.to_string())
    }

    const COUNTS: &str = r#""lut": 779, "dsp": 4, "brams": 0.5, "registers": 534, "carry8": -1, "f7_muxes": 3, "f8_muxes": 0, "f9_muxes": -1"#;

    fn vivado(met: u8, slack: f64) -> String {
        format!(
            r#"{{"synth": null, "impl": {{"summary": {{{COUNTS}}}, "tables": {{}}}}, "meet_timing": {met}, "worst_slack": {slack}, "period": 3.89,
                "frequency": 257.1}}"#
        )
    }

    #[test]
    fn what_fud2_makes_of_vivados_reports_is_read() {
        let synthesis = read(&[&vivado(1, 0.003)]).unwrap();
        let period = |of: &Synthesis| 1000.0 / of.clock.as_ref().unwrap().fmax_mhz;
        // The constraint is met, so the clock is that of the constraint.
        assert!((period(&synthesis) - 3.89).abs() < 1e-9);
        let total = synthesis.area.total;
        assert_eq!((total.luts, total.ffs, total.dsps), (779.0, 534.0, 4.0));
        assert_eq!((total.brams, total.carries, total.others), (1.0, 0.0, 3.0));
        assert_eq!(Synthesis::from_json(&synthesis.to_json()), Some(synthesis));
        // It is not: the clock has to wait for the last signal.
        let missed = read(&[&vivado(0, -0.11)]).unwrap();
        assert!((period(&missed) - 4.0).abs() < 1e-9);
        // Older scripts write no tables.
        let plain = format!(
            r#"{{"impl": {{{COUNTS}}}, "meet_timing": 1, "worst_slack": 1.0, "period": 10.0}}"#
        );
        assert_eq!(read(&[&plain]).unwrap().area.total, total);
    }

    #[test]
    fn area_and_clock_may_be_in_files_of_their_own() {
        let stat = r#"{"modules": {"\\main": {"num_cells_by_type": {"LUT4": 7, "TRELLIS_FF": 5, "MULT18X18D": 1}}}}"#;
        let report =
            |mhz: f64| format!(r#"{{"fmax": {{"clk": {{"achieved": {mhz}, "constraint": 12}}}}}}"#);
        let synthesis = read(&[stat, &report(80.0), &report(90.0), &report(85.0)]).unwrap();
        let clock = synthesis.clock.unwrap();
        assert_eq!(clock.range(), (80.0, 90.0));
        let told = (clock.fmax_mhz, synthesis.area.total.luts);
        assert_eq!(told, (85.0, 7.0));
        assert_eq!(synthesis.device, "ECP5, by reports");
        assert_eq!(
            read(&[stat]).unwrap_err(),
            "r.json: nothing tells the clock: `--read` that report, too"
        );
        assert_eq!(
            read(&[&report(80.0)]).unwrap_err(),
            "r.json: nothing tells the area: `--read` that report, too"
        );
        let twice = read(&[stat, &vivado(1, 0.0)]).unwrap_err();
        assert_eq!(twice, "r.json: another file tells the area already");
    }

    #[test]
    fn other_files_are_refused() {
        assert!(
            read(&["{}"])
                .unwrap_err()
                .contains("synth-verilog-to-util-json")
        );
        assert!(read(&["no"]).unwrap_err().contains("it is no JSON"));
        let odd = r#"{"meet_timing": 1, "period": 3.0}"#;
        assert!(read(&[odd]).is_err());
    }
}
