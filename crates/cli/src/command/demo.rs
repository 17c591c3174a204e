//! `rehome demo`: the whole job on a made-up cluster, on simulated time.
//!
//! The cluster is the case `cases/demo`: its files are written out and then read as anybody's files are read. Every
//! stage is the command that it names, with the same functions behind it; only the cluster is simulated.

mod folder;
mod story;

use std::sync::Arc;

use rehome_engine::drive::End;
use rehome_engine::world::World as _;
use rehome_model::approval::Approval;
use rehome_model::behaviour::Behaviour;
use rehome_model::document::{Document, Header};
use rehome_model::exit;
use rehome_model::intent::Intent;
use rehome_plan::sizing::SizingRequest;
use rehome_run::carry_out::{self, Job};
use rehome_run::journal_file::FileJournal;
use rehome_run::rehearse::{self, Twin};
use rehome_run::{read, simulated, verify, write};
use rehome_sim::SimWorld;

use super::{check, input, running, size, wish};
use crate::args::Demo;
use crate::error::CliError;
use crate::ui::{GOOD, Ui, paint};
use crate::view;
use folder::Folder;
use story::Story;

/// Orders of ties and races that the demo rehearses.
const SEEDS: u64 = 3;
/// The seed of the move itself: none that was rehearsed.
const SEED_OF_THE_MOVE: u64 = 42;

/// Runs all stages.
pub(crate) fn run(args: &Demo, ui: &mut Ui) -> Result<u8, CliError> {
    let folder = Folder::prepare(&args.dir)?;
    let intent: Intent = folder.document(folder::INTENT)?;
    let behaviour: Behaviour = folder.document(folder::BEHAVIOUR)?;
    let cluster = folder.path("cluster");
    let before =
        read::path(&cluster).map_err(|error| input::unreadable("the demo's cluster", &error, "rehome demo"))?;
    ui.out(&story::opening(&folder, &before.view, &intent))?;

    stage(
        ui,
        1,
        "How large must the target be?",
        &format!(
            "size --intent {} --flavor {} --snapshot {} --svg {}",
            folder.show(folder::INTENT),
            story::FLAVOR,
            cluster.display(),
            folder.show("nodes.svg")
        ),
    )?;
    let flavors = [crate::args::flavor(story::FLAVOR).map_err(CliError::unexpected)?];
    let request = SizingRequest {
        from: Some(&intent.from),
        to: Some(&intent.to),
        wish: &intent.sizing,
        flavors: &flavors,
        currency: None,
        peaks: None,
    };
    let sizing = size::sized(&before, &request)?;
    keep(&folder, "sizing.json", &sizing)?;
    write::text_file(&folder.path("nodes.svg"), &view::size::svg::text(&sizing))
        .map_err(|error| input::unwritable(&error))?;
    ui.out(&view::size::text(&sizing, ui.wide()))?;
    ui.out(&story::after_size(&folder))?;

    stage(
        ui,
        2,
        "What stands in the way?",
        &format!("check --from {} --to {} --snapshot {}", intent.from, intent.to, cluster.display()),
    )?;
    let bare = Intent { consents: std::collections::BTreeSet::new(), ..intent.clone() };
    let findings = rehome_plan::check(&before.view, &bare).map_err(|error| wish::unreadable(&error))?;
    ui.out(&check::text(&findings, false))?;
    ui.out(story::AFTER_CHECK)?;

    stage(
        ui,
        3,
        "The plan",
        &format!(
            "plan --intent {} --snapshot {} --out {}",
            folder.show(folder::INTENT),
            cluster.display(),
            folder.show("plan.json")
        ),
    )?;
    let plan =
        rehome_plan::plan(&before.view, before.digest.clone(), &intent).map_err(|error| wish::unreadable(&error))?;
    keep(&folder, "plan.json", &plan)?;
    ui.out(&view::plan::text(&plan, ui.wide()))?;
    ui.out(story::AFTER_PLAN)?;
    let job = Job::new(input::document(&folder.path("plan.json"), "rehome demo")?, running::PROGRAM);
    if job.plan.blockers().count() > 0 {
        return Ok(exit::BLOCKED);
    }

    stage(
        ui,
        4,
        "The rehearsal",
        &format!("rehearse --plan {} --snapshot {}", folder.show("plan.json"), cluster.display()),
    )?;
    let measured = rehome_sim::measured::behaviour_from(&before.view).behaviour;
    let taken = before.snapshot.taken;
    let twin = Twin { view: &before.view, snapshot: &before.digest, taken, behaviour: &measured };
    let rehearsal = rehearse::rehearse(&job, twin, SEEDS).map_err(|error| running::failed(&error, None))?;
    keep(&folder, "rehearsal.json", &rehearsal)?;
    ui.out(&view::rehearsal::text(&rehearsal, ui.wide()))?;
    ui.out(story::AFTER_REHEARSAL)?;

    stage(
        ui,
        5,
        "The move",
        &format!("execute --plan {} --approval {}", folder.show("plan.json"), folder.show("approval.json")),
    )?;
    let approval = Approval {
        header: Header::of::<Approval>(),
        plan: job.digest.clone(),
        cluster: job.plan.cluster.clone(),
        by: "you, if this were your cluster".to_owned(),
        at: taken,
    };
    keep(&folder, "approval.json", &approval)?;
    let approved = input::document::<Approval>(&folder.path("approval.json"), "rehome demo")?;
    carry_out::approved(&job, &approved.document)
        .map_err(|error| CliError::unexpected("the approval does not cover the plan").because(&error))?;
    let mut world = SimWorld::new(before.view.clone(), behaviour, SEED_OF_THE_MOVE, taken);
    let path = folder.path("plan.journal.jsonl");
    let mut store = FileJournal::create(&path).map_err(|error| input::journal(&error))?;
    running::keep_plan(&folder.path("plan.json"), &path)?;
    let mut story = Story::new(Arc::clone(&job.plan), taken);
    let end = carry_out::execute(&job, Some(approved.digest), &mut world, &mut store, &mut story)
        .map_err(|error| running::failed(&error, Some(&path)))?;
    drop(store);
    ui.out(&story.text())?;
    ui.out(&story::compared(&rehearsal, world.took(), &rehearse::without_ready(&job, &world)))?;
    if !matches!(end, End::Finished(_)) {
        return running::ended(&end, &path, ui);
    }
    ui.out(&story::after_move(&folder))?;

    stage(
        ui,
        6,
        "The proof",
        &format!(
            "verify --plan {} --before {} --after {}",
            folder.show("plan.json"),
            cluster.display(),
            folder.show("after.json")
        ),
    )?;
    let snapshot = simulated::snapshot(&before, world.truth(), world.now())
        .map_err(|error| CliError::unexpected("the simulated cluster has no JSON").because(&error))?;
    keep(&folder, "after.json", &snapshot)?;
    let after = input::snapshot(&folder.path("after.json"), ui)?;
    let verification = verify::verify(
        (&before.view, before.digest.clone()),
        (&after.view, after.digest),
        (&job.plan, job.digest.clone()),
    );
    keep(&folder, "verification.json", &verification)?;
    ui.out(&view::verification::text(&verification, ui.wide()))?;
    if !verification.passed() {
        return Ok(exit::VERIFICATION_FAILED);
    }
    ui.out(&story::closing(&folder, ui.program()))?;
    Ok(exit::DONE)
}

fn stage(ui: &mut Ui, number: usize, title: &str, command: &str) -> Result<(), CliError> {
    let program = ui.program();
    ui.out(&format!(
        "\n{}\n{}\n\n",
        paint(crate::ui::BOLD, format!("── {number}  {title} ──")),
        paint(GOOD, format!("$ {program} {command}"))
    ))
}

fn keep<D: Document>(folder: &Folder, name: &str, document: &D) -> Result<(), CliError> {
    write::document(&folder.path(name), document).map_err(|error| input::unwritable(&error))
}
