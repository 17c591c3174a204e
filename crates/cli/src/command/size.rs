//! `rehome size`.

use rehome_kube::prometheus::Prometheus;
use rehome_model::exit;
use rehome_model::flavor::{Catalogue, Flavor};
use rehome_model::intent::{Intent, Loss, SizingWish};
use rehome_model::sizing::Sizing;
use rehome_plan::sizing::{self, MeasuredPeaks, SizingError, SizingRequest};
use rehome_run::peaks::{self, PeaksError};
use rehome_run::{read, write};

use super::{input, wish};
use crate::args::Size;
use crate::error::CliError;
use crate::ui::Ui;
use crate::view;

/// Sizes the target, and draws it if asked.
pub(crate) fn run(args: &Size, ui: &mut Ui) -> Result<u8, CliError> {
    let (flavors, currency) = flavors(args)?;
    let intent = args
        .intent
        .as_ref()
        .map(|file| input::document::<Intent>(file, "rehome plan --from pool=old --to pool=new"))
        .transpose()?
        .map(|loaded| loaded.document);
    let mut wish = intent.as_ref().map_or_else(SizingWish::default, |intent| intent.sizing.clone());
    wish.floor = args.floor.unwrap_or(wish.floor);
    wish.survives = args.survive.map_or(wish.survives, Loss::from);
    let loaded = input::source(&args.source, ui)?;
    let peaks = args.prometheus.as_ref().map(|address| measured(address, &args.window, &loaded)).transpose()?;
    let request = SizingRequest {
        from: intent.as_ref().map(|intent| intent.from.as_str()).or(args.from.as_deref()),
        to: intent.as_ref().map(|intent| intent.to.as_str()).or(args.to.as_deref()),
        wish: &wish,
        flavors: &flavors,
        currency: currency.as_deref(),
        peaks: peaks.as_ref(),
    };
    let sizing = sized(&loaded, &request)?;
    if let Some(path) = &args.svg {
        write::text_file(path, &view::size::svg::text(&sizing)).map_err(|error| input::unwritable(&error))?;
        ui.say(&format!("picture written to {}", path.display()));
    }
    input::keep(&sizing, args.out.as_ref(), ui)?;
    ui.document(
        &sizing,
        |wide| view::size::text(&sizing, wide),
        || sizing.flavors.iter().map(|one| one.flavor.title()).collect(),
    )?;
    let answered = sizing.flavors.iter().any(|one| one.answer.is_some());
    Ok(if answered { exit::DONE } else { exit::BLOCKED })
}

/// The sizing of what was read.
pub(crate) fn sized(loaded: &read::Loaded, request: &SizingRequest<'_>) -> Result<Sizing, CliError> {
    sizing::size(&loaded.view, loaded.digest.clone(), request).map_err(|error| unsized_because(&error))
}

/// What Prometheus measured of this cluster.
fn measured(address: &str, window: &str, loaded: &read::Loaded) -> Result<MeasuredPeaks, CliError> {
    let user_agent = concat!("rehome/", env!("CARGO_PKG_VERSION"));
    let measured = Prometheus::new(address, user_agent)
        .map_err(PeaksError::from)
        .and_then(|prometheus| peaks::measure(&prometheus, &loaded.view, window));
    measured.map_err(|error| {
        let cli = CliError::usage("there are no peaks to size by").because(&error);
        match error {
            PeaksError::Window { .. } => cli.next("rehome size --window 7d"),
            PeaksError::Prometheus(_) => cli.next(
                "kubectl -n monitoring port-forward svc/prometheus-operated 9090   (then --prometheus http://localhost:9090)",
            ),
            _ => cli.next("run the query by hand in Prometheus, or leave out --prometheus and size by requests"),
        }
    })
}

/// The flavors of the arguments and of the catalogue.
fn flavors(args: &Size) -> Result<(Vec<Flavor>, Option<String>), CliError> {
    let mut flavors = args.flavors.clone();
    let mut currency = None;
    if let Some(file) = &args.catalogue {
        let made_by =
            "write one: apiVersion, kind: Catalogue, flavors: [{name: a4-ram16, cpu: 4, memory: 16Gi, price: 40}]";
        let catalogue = input::document::<Catalogue>(file, made_by)?.document;
        currency = catalogue.currency;
        flavors.extend(catalogue.flavors);
    }
    Ok((flavors, currency))
}

fn unsized_because(error: &SizingError) -> CliError {
    let cli = CliError::usage("nothing can be sized").because(error);
    match error {
        SizingError::Selection(error) => CliError { next: wish::unreadable(error).next, ..cli },
        SizingError::Flavor(_) | SizingError::NoFlavor => cli.next("rehome size --flavor cpu=4,memory=16Gi"),
        SizingError::Reserve(_) => cli.next("this is a fault of rehome"),
        SizingError::NoFloor => cli.next("rehome size --floor 1"),
    }
}
