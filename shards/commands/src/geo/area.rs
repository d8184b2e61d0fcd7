//! Areas that are searched, and the cells that cover one. The choice of cells is Redis's (its
//! geohash_helper.c), so that results come in its order.

use super::sphere::{Cell, Place, STEPS_MAX};

/// Half of the equator in metres, as the web's Mercator maps have it.
const MERCATOR_MAX: f64 = 20_037_726.37;

/// What is searched for, around a place; lengths in metres.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Shape {
    Circle { radius: f64 },
    Box { width: f64, height: f64 },
}

/// An area on the globe.
#[derive(Clone, Copy, Debug)]
pub(super) struct Area {
    pub(super) middle: Place,
    pub(super) shape: Shape,
}

/// Degrees that an area spans at most.
struct Bounds {
    south: f64,
    north: f64,
    west: f64,
    east: f64,
}

impl Area {
    /// The distance of a place from the middle, if it lies in the area.
    pub(super) fn distance(&self, place: Place) -> Option<f64> {
        match self.shape {
            Shape::Circle { radius } => Some(self.middle.distance(place)).filter(|metres| *metres <= radius),
            Shape::Box { width, height } => {
                if place.distance_of_latitudes(self.middle) > height / 2.0 {
                    return None;
                }
                let beside = Place { longitude: self.middle.longitude, latitude: place.latitude };
                (place.distance(beside) <= width / 2.0).then(|| self.middle.distance(place))
            }
        }
    }

    fn bounds(&self) -> Bounds {
        let (width, height) = match self.shape {
            Shape::Circle { radius } => (radius, radius),
            Shape::Box { width, height } => (width / 2.0, height / 2.0),
        };
        let Place { longitude, latitude } = self.middle;
        let up = Place::latitude_degrees(height);
        // A degree of longitude is shortest towards the nearer pole.
        let nearer = if latitude < 0.0 { latitude - up } else { latitude + up };
        let aside = Place::longitude_degrees(width, nearer);
        Bounds {
            south: latitude - up,
            north: latitude + up,
            west: longitude - aside,
            east: longitude + aside,
        }
    }

    /// How fine a grid is, of which nine cells cover the area.
    fn steps(&self) -> u32 {
        let mut radius = match self.shape {
            Shape::Circle { radius } => radius,
            Shape::Box { width, height } => (width / 2.0).hypot(height / 2.0),
        };
        if radius == 0.0 {
            return STEPS_MAX;
        }
        let mut steps = 1i32;
        while radius < MERCATOR_MAX && steps < 64 {
            radius *= 2.0;
            steps += 1;
        }
        // So that the area is covered also where it lies at the side of its cell.
        steps -= 2;
        let latitude = self.middle.latitude.abs();
        // Cells are narrower towards the poles.
        steps -= i32::from(latitude > 66.0) + i32::from(latitude > 80.0);
        steps.clamp(1, STEPS_MAX as i32) as u32
    }

    /// The cells that may have places in the area, each once.
    pub(super) fn cells(&self) -> Vec<Cell> {
        let (bounds, mut steps) = (self.bounds(), self.steps());
        let mut cell = Cell::of(self.middle, steps);
        let beside = |north, east| cell.moved(north, east).sides();
        let covers = beside(1, 0).north >= bounds.north
            && beside(-1, 0).south <= bounds.south
            && beside(0, 1).east >= bounds.east
            && beside(0, -1).west <= bounds.west;
        if steps > 1 && !covers {
            steps -= 1;
            cell = Cell::of(self.middle, steps);
        }
        let sides = cell.sides();
        let useless = |north: i32, east: i32| {
            steps >= 2
                && (north < 0 && sides.south < bounds.south
                    || north > 0 && sides.north > bounds.north
                    || east < 0 && sides.west < bounds.west
                    || east > 0 && sides.east > bounds.east)
        };
        let mut cells = Vec::with_capacity(9);
        let around = [(0, 0), (1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1)];
        for (north, east) in around {
            let other = cell.moved(north, east);
            // Around a coarse grid one comes to the same cell twice.
            if !useless(north, east) && !cells.contains(&other) {
                cells.push(other);
            }
        }
        cells
    }
}
